import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { runCommand } from '../../../e2e/cluster/machines/run-command.ts';
import { accountKubeconfig } from '../../../testing/builders/account-kubeconfig.ts';
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

/** What a manager is made of. */
export interface ScaleManagerOptions {
  readonly server: ApiServer;
  /** For its files. */
  readonly folder: string;
}

/**
 * The manager as its image runs it: the built program with the flags of `config/manager`, in a process of its own with the rights of its
 * ServiceAccount. It is measured from outside, and by the metrics that it serves.
 */
export class ScaleManager implements AsyncDisposable {
  readonly #folder: string;
  readonly #ports: Ports;
  readonly #command: readonly string[];
  #process: ServerProcess | undefined;
  #starts = 0;
  /** Of all looks since the measurement began. */
  #lag: Lag = { lagP99Ms: 0, lagMaxMs: 0 };

  private constructor(folder: string, ports: Ports, command: readonly string[]) {
    this.#folder = folder;
    this.#ports = ports;
    this.#command = command;
  }

  /** Builds the program; nothing runs yet. */
  static async build({ server, folder }: ScaleManagerOptions): Promise<ScaleManager> {
    const out = path.join(folder, 'manager');
    await runCommand(process.execPath, [path.join(root, 'cmd/build.ts'), out], { timeoutMs: 300_000 });
    const program = path.join(out, 'steward.mjs');
    const [first = ''] = (await readFile(program, 'utf8')).split('\n', 1);
    const [metrics = 0, health = 0, webhooks = 0] = await freePorts(3);
    const kubeconfig = path.join(folder, 'manager.kubeconfig');
    await writeFile(kubeconfig, await accountKubeconfig(server, managerNamespace, account), { mode: 0o600 });
    // The flags of its first line are those that the image starts it with.
    return new ScaleManager(folder, { metrics, health, webhooks }, [
      ...first.split(' ').slice(1),
      ...[program, 'manager', `--kubeconfig=${kubeconfig}`, '--leader-elect', '--datastore=default'],
      ...[`--pod-namespace=${managerNamespace}`, `--max-starting-control-planes=${mostAtOnce}`],
      ...['--insecure-diagnostics', `--metrics-bind-address=127.0.0.1:${metrics}`],
      ...[`--health-probe-bind-address=127.0.0.1:${health}`, `--webhook-bind-address=127.0.0.1:${webhooks}`],
      `--webhook-url=https://localhost:${webhooks}`,
    ]);
  }

  /** Starts it and waits until it is ready. */
  async start(): Promise<void> {
    this.#lag = { lagP99Ms: 0, lagMaxMs: 0 };
    const pod = `manager-${this.#starts}`;
    this.#starts += 1;
    this.#process = await startServerProcess({
      program: process.execPath,
      programArguments: this.#command,
      environment: { ...process.env, NODE_OPTIONS: '', POD_NAMESPACE: managerNamespace, POD_NAME: pod, POD_UID: pod },
      log: path.join(this.#folder, 'manager.log'),
    });
    await this.#process.until(() => answersOk(`http://127.0.0.1:${this.#ports.health}/readyz`), 120_000);
  }

  /** Ends it as the kubelet does. */
  async stop(): Promise<void> {
    await this.#process?.terminate();
    this.#process = undefined;
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
    if (this.#process?.running !== true)
      throw new Error(`The manager does not run; its log is ${path.join(this.#folder, 'manager.log')}.`);
    return this.#process.pid;
  }

  async #metrics(): Promise<string> {
    const url = `http://127.0.0.1:${this.#ports.metrics}/metrics`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(60_000) });
    if (!answer.ok) throw new Error(`${url} answered ${answer.status}.`);
    return answer.text();
  }
}
