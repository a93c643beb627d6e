import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { KubernetesClient, hasCondition } from '../cluster/kubernetes-client.ts';
import type { Expectation, ObjectAddress, PlainObject, WaitOptions } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import type { CommandOptions, CommandOutput } from '../cluster/machines/run-command.ts';
import { lastLines, runCommand } from '../cluster/machines/run-command.ts';
import { capiVersion } from './cluster-api/cluster-stage.ts';
import { slowness } from '../cluster/slowness.ts';
import { untilReached } from './network/until-reached.ts';

const kinds = [
  'clusters.cluster.x-k8s.io',
  'stewardcontrolplanes.controlplane.cluster.x-k8s.io',
  'tenantcontrolplanes.steward.butlerlabs.dev',
  'machinedeployments.cluster.x-k8s.io',
  'machines.cluster.x-k8s.io',
  'kubeadmconfigs.bootstrap.cluster.x-k8s.io',
].join(',');

/** A Cluster of Cluster API on a management cluster, by name; its tenant once there is one. */
export class Workload {
  readonly cluster: ManagementCluster;
  readonly name: string;
  readonly namespace: string;
  #tenant: Promise<KubernetesClient> | undefined;

  constructor(cluster: ManagementCluster, name: string, namespace = 'default') {
    this.cluster = cluster;
    this.name = name;
    this.namespace = namespace;
  }

  /** Names an object of its namespace, of its own name unless said. */
  at(apiVersion: string, kind: string, name: string = this.name): ObjectAddress {
    return { apiVersion, kind, namespace: this.namespace, name };
  }

  /** Its Cluster object. */
  get address(): ObjectAddress {
    return this.at(capiVersion, 'Cluster');
  }

  /** Waits for an object of the management cluster; a time limit's message tells all about this workload. */
  waitFor(address: ObjectAddress, expected: Expectation, options: WaitOptions = {}): Promise<PlainObject | undefined> {
    return this.cluster.waitFor(address, expected, {
      timeoutMs: 120_000,
      diagnose: () => this.diagnose(),
      ...options,
    });
  }

  /** Its Machines. */
  async machines(): Promise<readonly PlainObject[]> {
    return this.cluster.client.list(
      capiVersion,
      'Machine',
      this.namespace,
      `cluster.x-k8s.io/cluster-name=${this.name}`,
    );
  }

  /** A client of its API server, with the kubeconfig that Cluster API publishes. */
  async tenant(): Promise<KubernetesClient> {
    this.#tenant ??= this.kubeconfig().then((kubeconfig) => new KubernetesClient(kubeconfig));
    return this.#tenant;
  }

  /** The kubeconfig of the contract's Secret. @throws Error when there is none. */
  async kubeconfig(): Promise<string> {
    const secret = await this.cluster.client.read(this.at('v1', 'Secret', `${this.name}-kubeconfig`));
    const value = secret?.data?.value;
    if (value === undefined)
      throw new Error(`There is no Secret ${this.namespace}/${this.name}-kubeconfig with a value.`);
    return Buffer.from(value, 'base64').toString();
  }

  /** Waits until core Cluster API calls its control plane initialized; the tenant can be used from then on. */
  async initialized(timeoutMs = 120_000): Promise<PlainObject | undefined> {
    return this.waitFor(this.address, 'ControlPlaneInitialized', { timeoutMs });
  }

  /** Waits until so many nodes of the tenant are Ready and returns their names. */
  async readyNodes(count: number, timeoutMs = 180_000): Promise<readonly string[]> {
    const tenant = await this.tenant();
    const deadline = Date.now() + timeoutMs * slowness();
    for (;;) {
      this.cluster.harness.signal.throwIfAborted();
      const ready = (await untilReached(() => tenant.list('v1', 'Node'))).filter(hasCondition('Ready'));
      if (ready.length >= count) return ready.map(({ metadata }) => metadata?.name ?? '');
      if (Date.now() > deadline) {
        const seen = `${ready.length} of ${count} nodes of ${this.name} are Ready after ${timeoutMs / 1000} s.`;
        throw new Error(`${seen}\n${await this.#inside()}\n${await this.diagnose()}`);
      }
      await pause(250, undefined, { signal: this.cluster.harness.signal });
    }
  }

  /** Runs kubectl against its API server. */
  async kubectl(args: readonly string[], options: CommandOptions = {}): Promise<CommandOutput> {
    const { folder } = this.cluster.harness;
    const file = path.join(folder, `${this.namespace}-${this.name}.kubeconfig`);
    await writeFile(file, await this.kubeconfig(), { mode: 0o600 });
    const kubectl = path.join(folder, 'bin', this.cluster.machine.record.kubernetes, 'kubectl');
    return runCommand(kubectl, ['--kubeconfig', file, ...args], options);
  }

  /** Waits for an object inside the tenant; a time limit's message tells about both sides. */
  async waitInside(
    address: ObjectAddress,
    expected: Expectation,
    options: WaitOptions = {},
  ): Promise<PlainObject | undefined> {
    const tenant = await this.tenant();
    return tenant.waitFor(address, expected, {
      timeoutMs: 120_000,
      signal: this.cluster.harness.signal,
      diagnose: async () => `${await this.#inside()}\n${await this.diagnose()}`,
      ...options,
    });
  }

  /** Conditions, pods, warnings and the manager's last lines: all that helps to see what it waits for. */
  async diagnose(): Promise<string> {
    const { cluster, namespace } = this;
    const said = async (args: readonly string[]): Promise<string> =>
      cluster.kubectl([...args, '--request-timeout=5s']).then(
        ({ stdout }) => stdout,
        (error: unknown) => (error as Error).message,
      );
    const conditions =
      '{range .items[*]}{.kind}/{.metadata.name}{"\\n"}{range .status.conditions[*]}  {.type}={.status} {.reason} {.message}{"\\n"}{end}{end}';
    const [objects, pods, log, machines] = await Promise.all([
      said(['get', kinds, '-n', namespace, '-o', `jsonpath=${conditions}`]),
      cluster.diagnose(namespace),
      said(['-n', 'steward-system', 'logs', 'deployment/steward-controller-manager', '--tail=25']),
      cluster.harness.machines(),
    ]);
    const words = await Promise.all(
      machines.filter(({ name }) => name.startsWith(this.name)).map(async (machine) => machine.lastWords(8)),
    );
    return [
      `--- conditions in ${namespace}`,
      objects,
      '--- pods and warnings',
      pods,
      '--- manager',
      lastLines(log, 25),
      ...words,
    ].join('\n');
  }

  async #inside(): Promise<string> {
    const args = ['get', 'nodes,pods,events', '-A', '-o', 'wide', '--request-timeout=5s'];
    return this.kubectl(args).then(
      ({ stdout }) => `--- inside ${this.name}\n${stdout}`,
      (error: unknown) => (error as Error).message,
    );
  }
}
