import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { runCommand } from '../../../e2e/cluster/machines/run-command.ts';
import type { KeyPair } from '../../../kubeadm/pki/key-pair.ts';
import { accountKubeconfig } from '../../../testing/builders/account-kubeconfig.ts';
import { managerRuntime } from '../../../release/manager-image.ts';
import { answersOk } from '../../../testing/servers/answers-ok.ts';
import type { ApiServer } from '../../../testing/servers/api-server.ts';
import { freePorts } from '../../../testing/servers/free-ports.ts';
import { startServerProcess } from '../../../testing/servers/server-process.ts';
import type { ServerProcess } from '../../../testing/servers/server-process.ts';
import { readProcessUsage } from '../../footprint/process-usage.ts';
import { metricsOfManager } from './manager-metrics.ts';
import type { ManagerLook } from './manager-metrics.ts';
import { managerNamespace } from './scale-management.ts';

const root = path.join(import.meta.dirname, '../../..');
const account = 'steward-controller-manager';

/** Pods are not run, so that nobody needs to wait for processors. */
const mostAtOnce = 100_000;

interface Ports {
  readonly metrics: number;
  readonly health: number;
  readonly webhooks: number;
}

type Lag = Pick<ManagerLook, 'lagP99Ms' | 'lagMaxMs'>;

/** The built program, which several managers can run. */
export interface ManagerProgram {
  readonly folder: string;
  /** Flags of Node.js with which the image starts it, and its file. */
  readonly command: readonly string[];
}

/** One of several managers. */
export interface ScaleManagerOptions {
  /** Of its files, and of its pod. */
  readonly name?: string;
  /** Where it reaches the management API. */
  readonly kubeconfig: string;
  /** Where the management API reaches its webhooks; by default at the manager itself. */
  readonly webhookUrl?: string;
  /** Whether it shares the tenants with others. False by default. */
  readonly shards?: boolean;
}

/** Builds the program into a folder. */
export async function buildManager(folder: string): Promise<ManagerProgram> {
  const out = path.join(folder, 'manager');
  await runCommand(process.execPath, [path.join(root, 'cmd/build.ts'), out], { timeoutMs: 300_000 });
  const program = path.join(out, 'steward.mjs');
  const [first = ''] = (await readFile(program, 'utf8')).split('\n', 1);
  // The flags of its first line are those that the image starts it with.
  return { folder, command: [...first.split(' ').slice(1), program] };
}

/** A client certificate with the rights of the manager. */
export function managerClient(server: ApiServer): Promise<KeyPair> {
  return server.clientPair(`system:serviceaccount:${managerNamespace}:${account}`, [
    ...['system:serviceaccounts', `system:serviceaccounts:${managerNamespace}`],
  ]);
}

/** A kubeconfig with the rights of the manager. */
export function managerKubeconfig(server: ApiServer): Promise<string> {
  return accountKubeconfig(server, managerNamespace, account);
}

/**
 * The manager as its image runs it: the built program with the flags of `config/manager`, in a process of its own with the rights of its
 * ServiceAccount. It is measured from outside, and by the metrics that it serves.
 */
export class ScaleManager implements AsyncDisposable {
  readonly name: string;
  readonly #folder: string;
  readonly #ports: Ports;
  readonly #command: readonly string[];
  #process: ServerProcess | undefined;
  #starts = 0;
  /** Of all looks since the measurement began. */
  #lag: Lag = { lagP99Ms: 0, lagMaxMs: 0 };

  private constructor(name: string, folder: string, ports: Ports, command: readonly string[]) {
    this.name = name;
    this.#folder = folder;
    this.#ports = ports;
    this.#command = command;
  }

  /** Nothing runs yet. */
  static async of(
    { folder, command }: ManagerProgram,
    { name = 'manager', kubeconfig, webhookUrl, shards = false }: ScaleManagerOptions,
  ): Promise<ScaleManager> {
    const [metrics = 0, health = 0, webhooks = 0] = await freePorts(3);
    const file = path.join(folder, `${name}.kubeconfig`);
    await writeFile(file, kubeconfig, { mode: 0o600 });
    return new ScaleManager(name, folder, { metrics, health, webhooks }, [
      ...command,
      ...['manager', `--kubeconfig=${file}`, '--leader-elect', '--datastore=default'],
      ...[`--pod-namespace=${managerNamespace}`, `--max-starting-control-planes=${mostAtOnce}`],
      ...['--insecure-diagnostics', `--metrics-bind-address=127.0.0.1:${metrics}`],
      ...[`--health-probe-bind-address=127.0.0.1:${health}`, `--webhook-bind-address=127.0.0.1:${webhooks}`],
      ...[`--webhook-url=${webhookUrl ?? `https://localhost:${webhooks}`}`, `--shards=${String(shards)}`],
    ]);
  }

  /** At which its webhooks are served. */
  get webhookPort(): number {
    return this.#ports.webhooks;
  }

  /** What the kubelet would ask whether it is ready. */
  get readyUrl(): string {
    return `http://127.0.0.1:${this.#ports.health}/readyz`;
  }

  /** The file with what all its processes have written. */
  get log(): string {
    return path.join(this.#folder, `${this.name}.log`);
  }

  get isRunning(): boolean {
    return this.#process?.running === true;
  }

  /** Starts it and waits until it is ready. */
  async start(): Promise<void> {
    await this.launch();
    await this.#process?.until(() => answersOk(this.readyUrl), 120_000);
  }

  /** Starts it. */
  async launch(): Promise<void> {
    this.#lag = { lagP99Ms: 0, lagMaxMs: 0 };
    const pod = `${this.name}-${this.#starts}`;
    this.#starts += 1;
    this.#process = await startServerProcess({
      program: process.execPath,
      programArguments: this.#command,
      environment: {
        ...process.env,
        ...managerRuntime.environment,
        ...{ NODE_OPTIONS: '', POD_NAMESPACE: managerNamespace, POD_NAME: pod, POD_UID: pod },
      },
      log: this.log,
    });
  }

  /** Ends it as the kubelet does. */
  async stop(): Promise<void> {
    await this.#process?.terminate();
    this.#process = undefined;
  }

  /** Ends it at once, in the middle of whatever it does. */
  async kill(): Promise<void> {
    await this.#process?.kill();
    this.#process = undefined;
  }

  /** Stops all its threads, which go on at `resume`. */
  hang(): void {
    process.kill(this.#pid, 'SIGSTOP');
  }

  resume(): void {
    process.kill(this.#pid, 'SIGCONT');
  }

  async rssMiB(): Promise<number> {
    return (await readProcessUsage(this.#pid)).rssMiB;
  }

  /** The look with which a measurement begins. Rendering metrics takes time; it is over before the processor's is read. */
  async begin(): Promise<ManagerLook> {
    const metrics = metricsOfManager(await this.#metrics());
    this.#lag = { lagP99Ms: 0, lagMaxMs: 0 };
    return { at: performance.now(), ...(await readProcessUsage(this.#pid)), ...metrics };
  }

  /** Reads usage and metrics. Node resets the lag of its event loop with each reading: the worst of all readings is reported. */
  async look(): Promise<ManagerLook> {
    const usage = await readProcessUsage(this.#pid);
    const at = performance.now();
    const metrics = metricsOfManager(await this.#metrics());
    const { lagP99Ms, lagMaxMs } = this.#lag;
    this.#lag = { lagP99Ms: Math.max(lagP99Ms, metrics.lagP99Ms), lagMaxMs: Math.max(lagMaxMs, metrics.lagMaxMs) };
    return { at, ...usage, ...metrics, ...this.#lag };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process?.kill();
  }

  get #pid(): number {
    if (this.#process?.running !== true) throw new Error(`The manager does not run; its log is ${this.log}.`);
    return this.#process.pid;
  }

  async #metrics(): Promise<string> {
    const url = `http://127.0.0.1:${this.#ports.metrics}/metrics`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(60_000) });
    if (!answer.ok) throw new Error(`${url} answered ${answer.status}.`);
    return answer.text();
  }
}
