import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { cniConflist } from './network/cni-conflist.ts';
import type { Harness, HarnessOptions } from './harness.ts';
import { attachHarness, openHarness } from './harness.ts';
import { initDocuments } from './kubeadm-documents.ts';
import type { Expectation, ObjectAddress, PlainObject, WaitOptions } from './kubernetes-client.ts';
import { KubernetesClient } from './kubernetes-client.ts';
import { addRoute } from './network/links.ts';
import { runLoadBalancer } from './network/load-balancer.ts';
import { runLocalVolumes } from './local-volumes.ts';
import type { Machine } from './machines/machine.ts';
import type { NetworkPlan } from './network/network-plan.ts';
import type { CommandOptions, CommandOutput } from './machines/run-command.ts';
import { ownApiServer } from './own-api-server.ts';
import { runCommand } from './machines/run-command.ts';
import { slowness } from './slowness.ts';

/** What a management cluster is started with. */
export interface ManagementClusterOptions extends HarnessOptions {
  /** Image archives of the host to be loaded besides the usual ones. */
  readonly extraImages?: readonly string[];
  /** Whether this process gives addresses and volumes to Services and claims. Default: true. */
  readonly serve?: boolean;
  /** Work that needs the harness only; done while the cluster starts, which mostly waits. Its failure is the start's. */
  readonly meanwhile?: (harness: Harness) => Promise<void>;
  /** Work that needs an API server only; done while the node and its add-ons start. Its failure is the start's. */
  readonly whileStarting?: (cluster: ManagementCluster) => Promise<void>;
}

/** Name of its one machine and node. */
export const managementMachine = 'management';

/** A real one-node Kubernetes cluster made by kubeadm in a machine. Disposing removes it and its whole harness. */
export class ManagementCluster implements AsyncDisposable {
  readonly harness: Harness;
  readonly machine: Machine;
  /** Path of an administrator's kubeconfig, good on the host and in every machine of the harness. */
  readonly kubeconfig: string;
  readonly client: KubernetesClient;
  readonly #background: Promise<unknown>[] = [];

  constructor(harness: Harness, machine: Machine, kubeconfig: string, client: KubernetesClient) {
    this.harness = harness;
    this.machine = machine;
    this.kubeconfig = kubeconfig;
    this.client = client;
  }

  get name(): string {
    return this.harness.name;
  }

  /** The node's address, which the host reaches, all NodePorts included. */
  get address(): string {
    return this.machine.address;
  }

  /** Its ranges: pods, Services, load balancers, machines. */
  get network(): NetworkPlan {
    return this.harness.network;
  }

  /** Runs a command on the node. */
  exec(command: readonly string[], options?: CommandOptions): Promise<CommandOutput> {
    return this.machine.exec(command, options);
  }

  /** Runs kubectl against the cluster. What it remembers is of this cluster: another one had the same address before. */
  kubectl(args: readonly string[], options: CommandOptions = {}): Promise<CommandOutput> {
    const kubectl = path.join(this.harness.folder, 'bin', this.machine.record.kubernetes, 'kubectl');
    const cache = path.join(this.harness.folder, 'kubectl-cache');
    return runCommand(kubectl, ['--kubeconfig', this.kubeconfig, '--cache-dir', cache, ...args], options);
  }

  /** Imports an image archive of the host, so that pods with `imagePullPolicy` IfNotPresent or Never find it. */
  async loadImage(archive: string): Promise<void> {
    await this.machine.importImage(archive);
  }

  /** Applies manifests, see {@link KubernetesClient.apply}. */
  apply(manifests: string | readonly PlainObject[]): Promise<readonly PlainObject[]> {
    return this.client.apply(manifests);
  }

  /** Waits for an object, see {@link KubernetesClient.waitFor}; what its pods say is added to a time limit's message. */
  waitFor(address: ObjectAddress, expected: Expectation, options: WaitOptions = {}): Promise<PlainObject | undefined> {
    const signal = options.signal ?? this.harness.signal;
    return this.client.waitFor(address, expected, {
      diagnose: () => this.diagnose(address.namespace),
      ...options,
      signal,
    });
  }

  /** Pods that are not ready and recent warnings, of one namespace or of all. */
  async diagnose(namespace?: string): Promise<string> {
    const scope = namespace === undefined ? ['-A'] : ['-n', namespace];
    const [pods, events] = await Promise.all(
      [
        ['get', 'pods', ...scope, '-o', 'wide'],
        ['get', 'events', ...scope, '--field-selector', 'type=Warning', '--sort-by=.lastTimestamp'],
      ].map((args) =>
        this.kubectl([...args, '--request-timeout=5s']).then(
          ({ stdout }) => stdout,
          (error: unknown) => (error as Error).message,
        ),
      ),
    );
    return `${pods ?? ''}\n${(events ?? '').split('\n').slice(-15).join('\n')}`;
  }

  /** Kills its own kube-apiserver, not those of tenants, as a crash would; the kubelet starts it again. Resolves when it answers again. */
  async killApiServer(): Promise<void> {
    const running = await ownApiServer(this.machine);
    if (running.length === 0) throw new Error('kube-apiserver was not running.');
    for (const pid of running) process.kill(pid, 'SIGKILL');
    await this.apiServerAnswers();
  }

  /**
   * Asks kube-apiserver to end and waits until its successor answers. Open watches keep it for up to a minute; like the
   * kubelet, only sooner, this kills it after 10 s.
   */
  async restartApiServer(): Promise<void> {
    const [before] = await ownApiServer(this.machine);
    if (before === undefined) throw new Error('kube-apiserver was not running.');
    process.kill(before, 'SIGTERM');
    const gone = async (): Promise<boolean> => !(await this.machine.processes()).some(({ pid }) => pid === before);
    await until(gone, 10_000, 'kube-apiserver to end').catch(() => process.kill(before, 'SIGKILL'));
    await until(gone, 10_000, 'kube-apiserver to end');
    await this.apiServerAnswers();
  }

  /** Waits until `/readyz` says ok. */
  async apiServerAnswers(timeoutMs = 90_000): Promise<void> {
    const answers = async (): Promise<boolean> =>
      this.kubectl(['get', '--raw', '/readyz', '--request-timeout=2s']).then(
        ({ stdout }) => stdout === 'ok',
        // Not answering is what is waited for to end.
        () => false,
      );
    await until(answers, timeoutMs, `kube-apiserver of ${this.name} to answer`);
  }

  /**
   * Makes a command of the host one that finds the cluster's Services by name, as a pod does; it reaches their
   * addresses anyway. For a manager that runs beside the cluster.
   */
  async withClusterDns(command: readonly string[]): Promise<readonly string[]> {
    const file = path.join(this.harness.folder, 'resolv.conf');
    const server = this.network.services.replace(/\.0\/\d+$/, '.10');
    const search = 'default.svc.cluster.local svc.cluster.local cluster.local';
    await writeFile(file, `nameserver ${server}\nsearch ${search}\noptions ndots:5\n`);
    const script = 'mount --bind "$0" /etc/resolv.conf && exec "$@"';
    return ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', script, file, ...command];
  }

  /** Serves load balancers and volumes from this process until the harness is removed. */
  serve(): void {
    const options = {
      signal: this.harness.signal,
      onError: (error: unknown) => {
        this.harness.progress('background', String(error));
      },
    };
    const prepare = async (folder: string): Promise<void> => {
      await this.machine.exec(['sh', '-c', 'mkdir -p "$1" && chmod 0777 "$1"', 'sh', folder]);
    };
    this.#background.push(
      runLoadBalancer(this.client, this.network.loadBalancers, options).catch(options.onError),
      runLocalVolumes(this.client, prepare, options).catch(options.onError),
    );
  }

  /** Removes the cluster with everything of its harness. */
  async stop(): Promise<void> {
    await this.harness.remove();
    await Promise.all(this.#background);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Starts a management cluster in a harness of its own; resolves when its node is Ready and its add-ons are rolled out. */
export async function startManagementCluster(options: ManagementClusterOptions = {}): Promise<ManagementCluster> {
  const harness = await openHarness(options);
  const parts = [start(harness, options), options.meanwhile?.(harness) ?? Promise.resolve()] as const;
  try {
    const [cluster] = await Promise.all(parts);
    return cluster;
  } catch (error) {
    // What still writes into the harness ends first, or it would leave something behind.
    await Promise.allSettled(parts);
    await harness.remove();
    throw error;
  }
}

async function start(
  harness: Harness,
  { extraImages = [], serve = true, whileStarting }: ManagementClusterOptions,
): Promise<ManagementCluster> {
  const cluster = await bootstrap(harness);
  if (serve) cluster.serve();
  const others = whileStarting?.(cluster) ?? Promise.resolve();
  const parts = [loadedImages(cluster, extraImages).then(() => rolledOut(cluster)), others] as const;
  // Nothing may go on when the harness is removed because the other part failed.
  await Promise.all(parts).finally(() => Promise.allSettled(parts));
  return cluster;
}

async function loadedImages(cluster: ManagementCluster, images: readonly string[]): Promise<void> {
  for (const archive of images) {
    cluster.harness.progress('images', path.basename(archive));
    await cluster.loadImage(archive);
  }
}

/** Opens a management cluster that some process has started. It serves no load balancers until `serve` is called. */
export async function attachManagementCluster(
  name: string,
  progress?: HarnessOptions['progress'],
): Promise<ManagementCluster> {
  const harness = await attachHarness(name, progress);
  return openCluster(harness, await harness.machine(managementMachine));
}

async function bootstrap(harness: Harness): Promise<ManagementCluster> {
  const { network, progress } = harness;
  progress('machine', managementMachine);
  const machine = await harness.createMachine({ name: managementMachine });
  const podCidr = network.pods.replace(/\/\d+$/, '/24');
  const documents = initDocuments({
    name: managementMachine,
    address: machine.address,
    kubernetes: machine.record.kubernetes,
    pods: network.pods,
    services: network.services,
    cgroupVersion: harness.cgroups.version,
  });
  await machine.writeFile('/etc/cni/net.d/10-bridge.conflist', cniConflist(podCidr));
  await machine.writeFile('/etc/kubeadm-init.yaml', documents, '0600');
  progress('kubeadm init', machine.address);
  await machine.exec(['kubeadm', 'init', '--config', '/etc/kubeadm-init.yaml', '--skip-token-print'], {
    timeoutMs: 180_000,
    signal: harness.signal,
    diagnose: () => machine.lastWords(),
  });
  await writeFile(kubeconfigOf(harness), await machine.readFile('/etc/kubernetes/admin.conf'), { mode: 0o600 });
  const cluster = await openCluster(harness, machine);
  await quickenCoreDns(cluster);
  await addRoute(network.services, machine.address);
  await addRoute(network.loadBalancers, machine.address);
  await addRoute(podCidr, machine.address);
  return cluster;
}

/** One copy, probed every second instead of every ten: before its first pod starts. */
async function quickenCoreDns(cluster: ManagementCluster): Promise<void> {
  const containers = [{ name: 'coredns', readinessProbe: { periodSeconds: 1 } }];
  const patch = { spec: { replicas: 1, template: { spec: { containers } } } };
  await cluster.kubectl(['-n', 'kube-system', 'patch', 'deployment', 'coredns', '--patch', JSON.stringify(patch)]);
}

async function openCluster(harness: Harness, machine: Machine): Promise<ManagementCluster> {
  const kubeconfig = kubeconfigOf(harness);
  return new ManagementCluster(harness, machine, kubeconfig, new KubernetesClient(await readFile(kubeconfig, 'utf8')));
}

function kubeconfigOf(harness: Harness): string {
  return path.join(harness.folder, 'kubeconfig');
}

async function rolledOut(cluster: ManagementCluster): Promise<void> {
  const { progress } = cluster.harness;
  const diagnose = async (): Promise<string> => `${await cluster.diagnose()}\n${await cluster.machine.lastWords()}`;
  progress('node', 'waiting until it is Ready');
  const node = { apiVersion: 'v1', kind: 'Node', name: managementMachine };
  await cluster.waitFor(node, 'Ready', { diagnose });
  progress('add-ons', 'waiting for kube-proxy and CoreDNS');
  const system = { apiVersion: 'apps/v1', namespace: 'kube-system' };
  await cluster.waitFor({ ...system, kind: 'DaemonSet', name: 'kube-proxy' }, isDaemonSetReady, { diagnose });
  const coreDns = { ...system, kind: 'Deployment', name: 'coredns' };
  await cluster.waitFor(coreDns, isDeploymentReady, { timeoutMs: 120_000, diagnose });
}

/** The condition Available is no help: kubeadm's CoreDNS may have one copy unavailable, and that is all of one. */
function isDeploymentReady(object: PlainObject | undefined): boolean {
  const status = object?.status as { replicas?: number; readyReplicas?: number } | undefined;
  return (status?.replicas ?? 0) > 0 && status?.readyReplicas === status?.replicas;
}

function isDaemonSetReady(object: PlainObject | undefined): boolean {
  const status = object?.status as { desiredNumberScheduled?: number; numberReady?: number } | undefined;
  return (status?.desiredNumberScheduled ?? 0) > 0 && status?.numberReady === status?.desiredNumberScheduled;
}

async function until(met: () => Promise<boolean>, timeoutMs: number, what: string): Promise<void> {
  const deadline = Date.now() + timeoutMs * slowness();
  while (!(await met())) {
    if (Date.now() > deadline) throw new Error(`Waited ${timeoutMs / 1000} s for ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
