import { setTimeout as pause } from 'node:timers/promises';

import type { PlainObject } from '../cluster/kubernetes-client.ts';
import { KubernetesClient } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { runPodNetwork } from '../cluster/network/pod-network.ts';
import type { Worker } from '../cluster/worker.ts';
import { attachWorker, startWorker } from '../cluster/worker.ts';
import { crds, infrastructureVersion } from './kinds.ts';
import type { Bootstrap } from './machine-pools.ts';
import { MachinePools } from './machine-pools.ts';
import { addressOf, isProvisioned, metadataOf } from './plain-metadata.ts';

/** How the provider runs. */
export interface ProviderOptions {
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
  /** Called with each machine's steps. */
  readonly onStep?: (machine: string, step: string) => void;
  /** OCI archives that each machine has beside those of Kubernetes; there is no registry. */
  readonly images?: readonly string[];
}

/** Until a machine that failed is tried again. */
const retryMs = 10_000;
const finalizer = 'netnsmachine.infrastructure.cluster.x-k8s.io';
const capiVersion = 'cluster.x-k8s.io/v1beta2';

/**
 * An infrastructure provider of Cluster API for tests: it turns each Machine into a worker of the harness on this host, and
 * pretends to be nothing else. It looks at its objects twice a second until aborted; the machines outlive it.
 */
export class InfrastructureProvider {
  readonly #cluster: ManagementCluster;
  readonly #client: KubernetesClient;
  readonly #options: ProviderOptions;
  /** Machines that are being worked on, by UID. */
  readonly #busy = new Map<string, Promise<void>>();
  /** Pod networks that run, by Cluster; one that is made again under its name has another Secret, and gets another network. */
  readonly #networks = new Map<string, { readonly secret: string; readonly stop: AbortController }>();
  readonly #pools: MachinePools;

  constructor(cluster: ManagementCluster, options: ProviderOptions) {
    this.#cluster = cluster;
    this.#client = cluster.client;
    this.#options = options;
    this.#pools = new MachinePools(this.#client, (pool, step) => {
      this.#step(pool, step);
    });
  }

  /** Registers its kinds; core Cluster API may refer to them from then on. */
  async install(): Promise<void> {
    await this.#client.apply(crds);
    for (const { metadata } of crds) {
      const name = metadata?.name ?? '';
      await this.#client.waitFor(
        { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name },
        'Established',
      );
    }
  }

  /** Runs until aborted. */
  async run(): Promise<void> {
    const { signal, onError } = this.#options;
    const ended = (): boolean => signal.aborted;
    while (!ended()) {
      try {
        for (const cluster of await this.#client.list(infrastructureVersion, 'NetnsCluster'))
          await this.#provisionCluster(cluster);
        await this.#pools.reconcile();
        for (const machine of await this.#client.list(infrastructureVersion, 'NetnsMachine')) this.#start(machine);
      } catch (error) {
        if (!ended()) onError(error);
      }
      // Only an abort rejects the pause, and that is the end of the loop.
      await pause(500, undefined, { signal }).catch(() => undefined);
    }
    await Promise.all(this.#busy.values());
  }

  /** There is nothing to build for a cluster: it is provisioned as soon as it has an endpoint. */
  async #provisionCluster(cluster: PlainObject): Promise<void> {
    const endpoint = cluster.spec?.controlPlaneEndpoint as { host?: string } | undefined;
    if (endpoint?.host === undefined || isProvisioned(cluster)) return;
    await this.#client.merge(addressOf(cluster), { status: { initialization: { provisioned: true } } });
  }

  #start(machine: PlainObject): void {
    const uid = machine.metadata?.uid ?? '';
    if (this.#busy.has(uid)) return;
    const work = this.#reconcile(machine)
      .catch((error: unknown) => {
        if (this.#options.signal.aborted) return;
        this.#options.onError(error);
        // A machine that fails is not tried again at once: its log stays readable and the host at rest.
        return pause(retryMs, undefined, { signal: this.#options.signal }).catch(() => undefined);
      })
      .finally(() => {
        this.#busy.delete(uid);
      });
    this.#busy.set(uid, work);
  }

  async #reconcile(listed: PlainObject): Promise<void> {
    // The list may be from before the end of the last round, and a machine must not join twice.
    const machine = await this.#client.read(addressOf(listed));
    if (machine === undefined) return;
    const metadata = metadataOf(machine);
    if (metadata.deletionTimestamp !== undefined) {
      if (metadata.finalizers?.includes(finalizer) === true) await this.#remove(machine);
      return;
    }
    if (isProvisioned(machine)) {
      await this.#joinPodNetwork(machine);
      return;
    }
    const { dataSecretName, version } = await this.#bootstrapOf(machine);
    if (dataSecretName === undefined) return;
    const data = await this.#bootstrapData(metadata.namespace ?? '', dataSecretName);
    if (metadata.finalizers?.includes(finalizer) !== true) {
      await this.#client.merge(addressOf(machine), {
        metadata: { finalizers: [...(metadata.finalizers ?? []), finalizer] },
      });
    }
    await this.#provision(machine, data, version);
  }

  async #provision(machine: PlainObject, data: string, kubernetes: string | undefined): Promise<void> {
    const name = machine.metadata?.name ?? '';
    const providerID = `netns://${this.#cluster.name}/${name}`;
    this.#step(name, 'starting');
    // What an earlier attempt left behind is no machine that kubeadm could join twice.
    await this.#stopWorker(name);
    const worker = await startWorker({
      harness: this.#cluster.harness,
      name,
      kubeletArgs: [`--provider-id=${providerID}`],
      kubernetes,
      signal: this.#options.signal,
    });
    await this.#joinPodNetwork(machine);
    for (const archive of this.#options.images ?? []) await worker.machine.importImage(archive);
    this.#step(name, 'joining');
    await worker.runBootstrapData(data);
    this.#step(name, 'joined');
    const addresses = [
      { type: 'InternalIP', address: worker.address },
      { type: 'Hostname', address: name },
    ];
    const status = { initialization: { provisioned: true }, addresses };
    await this.#client.merge(addressOf(machine), { spec: { providerID }, status });
  }

  async #remove(machine: PlainObject): Promise<void> {
    const metadata = metadataOf(machine);
    await this.#stopWorker(metadata.name ?? '');
    const finalizers = (metadata.finalizers ?? []).filter((one) => one !== finalizer);
    await this.#client.merge(addressOf(machine), { metadata: { finalizers } });
    this.#step(metadata.name ?? '', 'removed');
  }

  async #stopWorker(name: string): Promise<void> {
    const { harness } = this.#cluster;
    const exists = (await harness.machines()).some((machine) => machine.name === name);
    if (!exists) return;
    const worker: Worker = await attachWorker(harness, name);
    await worker.stop();
  }

  /** Nodes of a tenant get their pod ranges from the tenant: its network follows its API server. */
  async #joinPodNetwork(machine: PlainObject): Promise<void> {
    const { namespace = '', labels = {} } = metadataOf(machine);
    const cluster = labels['cluster.x-k8s.io/cluster-name'] ?? '';
    const key = `${namespace}/${cluster}`;
    const address = { apiVersion: 'v1', kind: 'Secret', namespace, name: `${cluster}-kubeconfig` };
    const { data, metadata: { uid = '' } = {} } = (await this.#client.read(address)) ?? {};
    const kubeconfig = data?.value;
    const running = this.#networks.get(key);
    if (kubeconfig === undefined || running?.secret === uid) return;
    running?.stop.abort();
    const stop = new AbortController();
    this.#networks.set(key, { secret: uid, stop });
    const client = new KubernetesClient(Buffer.from(kubeconfig, 'base64').toString());
    const { onError } = this.#options;
    const signal = AbortSignal.any([this.#options.signal, stop.signal]);
    const onlyRoutes = machine.spec?.cni === 'None';
    runPodNetwork(client, () => this.#cluster.harness.machines(), { signal, onError, onlyRoutes }).catch(onError);
  }

  /** What a machine joins with: its pool's or its Machine's. Without a Machine, nobody would look after its node. */
  async #bootstrapOf(machine: PlainObject): Promise<Bootstrap> {
    const { namespace = '', ownerReferences = [] } = metadataOf(machine);
    const owner = ownerReferences.find(({ kind }) => kind === 'Machine');
    if (owner === undefined) return {};
    const ofPool = await this.#pools.bootstrapOf(machine);
    if (ofPool !== undefined) return ofPool;
    const address = { apiVersion: capiVersion, kind: 'Machine', namespace, name: owner.name };
    const spec = (await this.#client.read(address))?.spec as
      { readonly version?: string; readonly bootstrap?: Bootstrap } | undefined;
    const { version, bootstrap } = spec ?? {};
    return { ...bootstrap, ...(version === undefined ? {} : { version }) };
  }

  async #bootstrapData(namespace: string, name: string): Promise<string> {
    const secret = await this.#client.read({ apiVersion: 'v1', kind: 'Secret', namespace, name });
    const value = secret?.data?.value;
    if (value === undefined) throw new Error(`Secret ${namespace}/${name} has no bootstrap data under the key value.`);
    return Buffer.from(value, 'base64').toString();
  }

  #step(machine: string, step: string): void {
    this.#options.onStep?.(machine, step);
  }
}
