import type { Harness } from './harness.ts';
import { readCloudConfig } from './cloud-config.ts';
import { cniConflist } from './network/cni-conflist.ts';
import { ignoredPreflightErrors } from './kubeadm-documents.ts';
import { addRoute } from './network/links.ts';
import type { Machine } from './machines/machine.ts';
import { managementMachine } from './management-cluster.ts';
import type { CommandOptions } from './machines/run-command.ts';

/** How a worker is asked for. */
export interface WorkerOptions {
  readonly harness: Harness;
  /** Its host name, and the name of its node unless kubeadm is told otherwise. */
  readonly name: string;
  /** Kubernetes version of its kubelet and kubeadm. Default: the harness'. */
  readonly kubernetes?: string;
  /** Further flags of its kubelet, for example `--provider-id=…`. */
  readonly kubeletArgs?: readonly string[];
  readonly signal?: AbortSignal;
}

/** The file by which Cluster API's bootstrap contract tells success. */
export const bootstrapSuccessFile = '/run/cluster-api/bootstrap-success.complete';

/** A machine that is to become a node of some cluster: containerd runs, nothing of Kubernetes is configured. */
export class Worker implements AsyncDisposable {
  readonly harness: Harness;
  readonly machine: Machine;

  constructor(harness: Harness, machine: Machine) {
    this.harness = harness;
    this.machine = machine;
  }

  get name(): string {
    return this.machine.name;
  }

  get address(): string {
    return this.machine.address;
  }

  /**
   * Joins a cluster: runs `kubeadm join` with this configuration (YAML, a JoinConfiguration).
   * @throws CommandError with the last lines of kubeadm, kubelet and containerd.
   */
  async join(configuration: string, options: CommandOptions = {}): Promise<void> {
    await this.machine.writeFile('/etc/kubeadm-join.yaml', configuration, '0600');
    const ignored = `--ignore-preflight-errors=${ignoredPreflightErrors.join(',')}`;
    await this.#run(['kubeadm', 'join', '--config', '/etc/kubeadm-join.yaml', ignored], options);
  }

  /**
   * Does what cloud-init would do with Cluster API's bootstrap data: writes the files, runs the commands.
   * @returns the names of cloud-init modules that were left out.
   * @throws Error with the last lines of its commands when they do not report success.
   */
  async runBootstrapData(data: string, options: CommandOptions = {}): Promise<readonly string[]> {
    const metadata = { local_hostname: this.name, hostname: this.name, local_ipv4: this.address };
    const { files, script, ignored } = readCloudConfig(data, metadata);
    for (const file of files) {
      const write =
        'mkdir -p "$(dirname "$1")" && if [ "$4" = true ]; then cat >> "$1"; else cat > "$1"; fi && chown "$2" "$1" && chmod "$3" "$1"';
      const args = [file.path, file.owner, file.permissions, String(file.append)];
      await this.machine.exec(['sh', '-c', write, 'sh', ...args], { input: file.content });
    }
    if (script === undefined) return ignored;
    await this.machine.writeFile('/var/lib/cloud/runcmd', script, '0700');
    const checked = `/var/lib/cloud/runcmd; code=$?; [ -e ${bootstrapSuccessFile} ] || { echo "runcmd exited with $code"; exit 1; }`;
    await this.#run(['sh', '-c', checked], { title: `${this.name}: bootstrap data`, ...options });
    return ignored;
  }

  /** Gives its pods addresses: writes the CNI configuration for these ranges, usually `node.spec.podCIDRs`. */
  async usePodCidrs(podCidrs: readonly string[]): Promise<void> {
    await this.machine.writeFile('/etc/cni/net.d/10-bridge.conflist', cniConflist(...podCidrs));
  }

  /** Removes the machine; its node object is the caller's. */
  async stop(): Promise<void> {
    await this.harness.removeMachine(this.machine);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #run(command: readonly string[], options: CommandOptions): Promise<void> {
    const diagnose = (): Promise<string> => this.machine.lastWords();
    await this.machine.exec(command, { timeoutMs: 120_000, signal: this.harness.signal, diagnose, ...options });
  }
}

/** Starts a worker; it reaches the management node and every load-balancer address of the harness. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { harness, name, kubernetes, kubeletArgs, signal } = options;
  const machine = await harness.createMachine({ name, kubernetes, kubeletArgs, signal });
  const worker = new Worker(harness, machine);
  try {
    const management = (await harness.machines()).find((candidate) => candidate.name === managementMachine);
    if (management !== undefined) await addRoute(harness.network.loadBalancers, management.address, machine.init);
    return worker;
  } catch (error) {
    await worker.stop();
    throw error;
  }
}

/** Opens a worker that some process has started. */
export async function attachWorker(harness: Harness, name: string): Promise<Worker> {
  return new Worker(harness, await harness.machine(name));
}
