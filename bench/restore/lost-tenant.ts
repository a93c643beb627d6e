import { setTimeout as pause } from 'node:timers/promises';

import { KubernetesClient } from '../../e2e/cluster/kubernetes-client.ts';
import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import type { Worker } from '../../e2e/cluster/worker.ts';
import type { StoreWitness } from '../../e2e/framework/load/store-witness.ts';
import { storeTrials } from '../../e2e/framework/store-trials.ts';
import type { TenantStage } from '../../e2e/framework/tenant-stage.ts';
import { webDeployment } from '../../e2e/framework/web-pod.ts';
import { joinByHand, machineKubelet } from '../../e2e/framework/workers/tenant-worker.ts';
import { workerRuns } from '../../e2e/framework/workers/worker-runs.ts';
import type { FloodStore } from '../flood/flood-rows.ts';
import { backupManifest } from './backup-page.ts';
import { findObjects } from './found-objects.ts';
import { createFurniture } from './furniture.ts';
import { RecordedHistory } from './recorded-history.ts';
import { writeHistory } from './write-history.ts';
import type { FoundObject } from './written-history.ts';

const version = 'steward.butlerlabs.dev/v1alpha1';

/** Where the objects that nothing changes and those of the history are. */
export const furnitureNamespace = 'furniture';
export const historyNamespace = 'history';

const writesPerSecond = 100;

/** Node ports of the API servers, which outlive them. */
const firstPort = 31_601;

/** How long anything may take that depends on the amount of data. */
export const patienceMs = 600_000;

const webAddress = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web' };

/** How a tenant is made. */
export interface LostTenantOptions {
  readonly store: FloodStore;
  readonly dataStore: string;
  readonly progress: (step: string, detail?: string) => void;
}

/** What there was before the tenant was destroyed. */
export interface LostData {
  readonly furniture: ReadonlyMap<string, FoundObject>;
  readonly history: RecordedHistory;
  /** The runs of kubelet and pod. */
  readonly runs: unknown;
}

/** A tenant with a worker and a BackupPolicy. Disposing of it deletes it with all that was made of it. */
export class LostTenant implements AsyncDisposable {
  readonly stage: TenantStage;
  readonly name: string;
  readonly #options: LostTenantOptions;
  readonly #kubeconfig: string;
  readonly #worker: Worker;
  readonly #empty: readonly string[];
  readonly #witness: StoreWitness;

  private constructor(
    stage: TenantStage,
    options: LostTenantOptions,
    parts: { name: string; kubeconfig: string; worker: Worker; empty: readonly string[]; witness: StoreWitness },
  ) {
    this.stage = stage;
    this.#options = options;
    this.name = parts.name;
    this.#kubeconfig = parts.kubeconfig;
    this.#worker = parts.worker;
    this.#empty = parts.empty;
    this.#witness = parts.witness;
  }

  /** Makes the tenant, and lets a worker join that runs a pod. */
  static async create(stage: TenantStage, options: LostTenantOptions): Promise<LostTenant> {
    const { store, progress } = options;
    const at = storeTrials.findIndex((trial) => trial.store === store);
    const witness = storeTrials[at]?.witness;
    if (witness === undefined) throw new Error(`There is no quick start of ${store}.`);
    const name = `${store}-shop`;
    const empty = await witness(stage.cluster);
    await stage.cluster.apply([
      tenantManifest(stage, name, options.dataStore, {
        service: { serviceType: 'NodePort' },
        port: firstPort + at,
        replicas: 1,
      }),
    ]);
    try {
      const { controlPlaneEndpoint: endpoint = '' } = await stage.waitFor(name, 'Ready', { timeoutMs: 300_000 });
      const kubeconfig = await stage.kubeconfig(name);
      const client = new KubernetesClient(kubeconfig);
      const worker = await joinByHand(stage, { tenant: name, endpoint, worker: `${name}-worker` });
      const namespaces = [furnitureNamespace, historyNamespace].map((namespace): PlainObject => {
        return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
      });
      await client.apply([webDeployment, ...namespaces]);
      await client.waitFor(webAddress, 'Available', { timeoutMs: 180_000 });
      progress('a worker has joined');
      return new LostTenant(stage, options, { name, kubeconfig, worker, empty, witness });
    } catch (error) {
      await stage.cluster.client.delete(stage.tenant(name));
      throw error;
    }
  }

  /** A client with the kubeconfig of before. */
  get client(): KubernetesClient {
    return new KubernetesClient(this.#kubeconfig);
  }

  get clone(): string {
    return `${this.name}-then`;
  }

  /** A manifest of the page of backups for this tenant. */
  manifest(name: string): Promise<string> {
    return backupManifest(name, this.name);
  }

  /** Writes what stays as it is. */
  async fill(objects: number): Promise<void> {
    const began = performance.now();
    await createFurniture(this.#kubeconfig, furnitureNamespace, objects);
    this.#options.progress('filled', `${objects} objects in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  }

  /** Starts the policy, and waits until its first backup is there. */
  async backUp(): Promise<void> {
    const { cluster } = this.stage;
    await cluster.apply(await this.manifest('backup.yaml'));
    await cluster.waitFor(this.stage.at('BackupPolicy', this.name, version), 'Ready', { timeoutMs: patienceMs });
    this.#options.progress('is backed up');
  }

  /** Writes so long, and goes on until the tenant is deleted with all of its data. */
  async writeAndDestroy(seconds: number): Promise<LostData> {
    const { stage } = this;
    const furniture = await findObjects(this.client.connection, furnitureNamespace);
    const runs = await this.runs();
    const kubeconfig = this.#kubeconfig;
    using writing = await writeHistory({ kubeconfig, namespace: historyNamespace, perSecond: writesPerSecond });
    await pause(seconds * 1000);
    const destroyedAt = Date.now();
    await stage.cluster.client.delete(stage.tenant(this.name));
    await stage.gone(stage.tenant(this.name), patienceMs);
    const history = new RecordedHistory(await writing.end(), destroyedAt);
    this.#options.progress('destroyed', JSON.stringify(history.counts));
    await this.#expectGone();
    return { furniture, history, runs };
  }

  /** The runs of the kubelet and of the pod. */
  runs(): Promise<unknown> {
    return workerRuns(this.client, this.#worker);
  }

  /** Applies a control plane without pods into which a restore can be made. */
  async createClone(): Promise<void> {
    const { stage } = this;
    const service = { serviceType: 'ClusterIP' };
    await stage.cluster.apply([tenantManifest(stage, this.clone, this.#options.dataStore, { service, replicas: 0 })]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { stage } = this;
    const { client } = stage.cluster;
    await this.#worker.stop();
    await client.delete(stage.at('BackupPolicy', this.name, version));
    for (const kind of ['TenantRestore', 'TenantBackup']) {
      const names = (await client.list(version, kind, stage.namespace)).map(({ metadata }) => metadata?.name ?? '');
      for (const name of names) await client.delete(stage.at(kind, name, version));
    }
    for (const name of [this.clone, this.name]) await client.delete(stage.tenant(name));
    for (const name of [this.clone, this.name]) await stage.gone(stage.tenant(name), patienceMs);
  }

  /** Nothing of the tenant may be left: the restore would find it. */
  async #expectGone(): Promise<void> {
    const { stage } = this;
    if ((await stage.cluster.client.read(stage.at('Secret', `${this.name}-ca`))) !== undefined)
      throw new Error(`The CA of ${this.name} is still there after its deletion.`);
    const left = (await this.#witness(stage.cluster)).filter((line) => !this.#empty.includes(line));
    if (left.length > 0) throw new Error(`The datastore still has ${left.length} of ${this.name}: ${left[0] ?? ''}`);
  }
}

function tenantManifest(
  stage: TenantStage,
  name: string,
  dataStore: string,
  { replicas, service, port }: { readonly replicas: number; readonly service: object; readonly port?: number },
): PlainObject {
  const { services, pods } = stage.cluster.network;
  return stage.manifest(name, {
    dataStore,
    controlPlane: { deployment: { replicas }, service },
    kubernetes: { version: 'v1.36.3', kubelet: machineKubelet },
    networkProfile: { ...(port !== undefined && { port }), serviceCidr: services, podCidr: pods },
    addons: { coreDNS: {}, kubeProxy: {} },
  });
}
