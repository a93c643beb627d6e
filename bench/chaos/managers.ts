import { stringify } from 'yaml';

import { answersOk } from '../../testing/servers/answers-ok.ts';
import { startTcpProxy } from '../../testing/servers/tcp-proxy.ts';
import type { TcpProxy } from '../../testing/servers/tcp-proxy.ts';
import { EndedProcess } from '../footprint/ended-process.ts';
import type { ManagerProgram } from '../scale/fleet/scale-manager.ts';
import { ScaleManager } from '../scale/fleet/scale-manager.ts';
import type { FaultyApi } from './faulty-api.ts';
import { pauseUnlessOver } from '../pause-unless-over.ts';

/** How often the kubelet would look who is ready. */
const lookEveryMs = 1_000;

interface Member {
  readonly manager: ScaleManager;
  /** Its line to the management API. */
  readonly line: TcpProxy;
}

/** What managers are made of. */
export interface ManagersOptions {
  readonly program: ManagerProgram;
  readonly api: FaultyApi;
  readonly count: number;
  /** Whether they share the tenants; otherwise one of them leads. */
  readonly shards: boolean;
}

/** Several managers of one fleet, each with its own line to the management API. A Service leads webhooks to one that is ready. */
export class Managers implements AsyncDisposable {
  readonly #members: readonly Member[];
  readonly #webhooks: TcpProxy;
  readonly #over = new AbortController();
  readonly #killed = new Set<number>();
  /** Those that were killed, and not started since. */
  readonly #down = new Set<number>();
  #watching: Promise<unknown> = Promise.resolve();
  #endedByThemselves = 0;

  private constructor(members: readonly Member[], webhooks: TcpProxy) {
    this.#members = members;
    this.#webhooks = webhooks;
  }

  /** Starts them. */
  static async start({ program, api, count, shards }: ManagersOptions): Promise<Managers> {
    await using started = new AsyncDisposableStack();
    const webhooks = started.use(await startTcpProxy(0));
    const members: Member[] = [];
    for (let number = 0; number < count; number += 1) {
      const line = started.use(await startTcpProxy(api.port));
      const manager = started.use(
        await ScaleManager.of(program, {
          name: `manager-${number}`,
          kubeconfig: kubeconfigOf(line.port, api),
          webhookUrl: `https://localhost:${webhooks.port}`,
          shards,
        }),
      );
      members.push({ manager, line });
    }
    const managers = new Managers(members, webhooks);
    await Promise.all(members.map(({ manager }) => manager.start()));
    managers.#watching = Promise.all([managers.#balance(), ...members.map((_, number) => managers.#keep(number))]);
    started.move();
    return managers;
  }

  /** How many have ended without being killed, and were started again. */
  get endedByThemselves(): number {
    return this.#endedByThemselves;
  }

  /** Where they have written what they did. */
  get logs(): readonly string[] {
    return this.#members.map(({ manager }) => manager.log);
  }

  /** Of the largest that runs. */
  async rssMiB(): Promise<number> {
    const running = this.#members.filter(({ manager }) => manager.isRunning);
    return Math.max(0, ...(await Promise.all(running.map(({ manager }) => rssMiBOf(manager)))));
  }

  async kill(number: number): Promise<void> {
    this.#killed.add(number);
    await this.#member(number).manager.kill();
  }

  /** Starts one that was killed. */
  start(number: number): void {
    this.#killed.delete(number);
  }

  /** Does nothing to one that has ended. */
  hang(number: number): void {
    const { manager } = this.#member(number);
    if (manager.isRunning) manager.hang();
  }

  resume(number: number): void {
    const { manager } = this.#member(number);
    if (manager.isRunning) manager.resume();
  }

  /** What it sends, and what is sent to it, arrives when the partition is over. */
  partition(number: number): void {
    this.#member(number).line.freeze();
  }

  unite(number: number): void {
    this.#member(number).line.thaw();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#watching;
    for (const { manager, line } of this.#members) {
      await manager.kill();
      await line[Symbol.asyncDispose]();
    }
    await this.#webhooks[Symbol.asyncDispose]();
  }

  #member(number: number): Member {
    const member = this.#members[number];
    if (member === undefined) throw new Error(`There is no manager ${number}.`);
    return member;
  }

  /** Starts it again whenever it has ended, as the kubelet does, unless it was killed. */
  async #keep(number: number): Promise<void> {
    const { manager } = this.#member(number);
    for (;;) {
      await pauseUnlessOver(lookEveryMs, this.#over.signal);
      if (this.#over.signal.aborted) return;
      if (manager.isRunning || this.#killed.has(number)) {
        if (this.#killed.has(number)) this.#down.add(number);
        continue;
      }
      if (!this.#down.delete(number)) this.#endedByThemselves += 1;
      await manager.launch();
    }
  }

  /** Leads webhooks to the managers that are ready, in turn; to nobody when none is. */
  async #balance(): Promise<void> {
    for (let turn = 0; !this.#over.signal.aborted; turn += 1) {
      const ready: ScaleManager[] = [];
      for (const { manager } of this.#members)
        if (manager.isRunning && (await answersOk(manager.readyUrl))) ready.push(manager);
      const chosen = ready[turn % Math.max(1, ready.length)];
      this.#webhooks.turnTo(chosen?.webhookPort ?? 0);
      await pauseUnlessOver(lookEveryMs, this.#over.signal);
    }
  }
}

function kubeconfigOf(port: number, { ca, token }: FaultyApi): string {
  const cluster = {
    server: `https://127.0.0.1:${port}`,
    'certificate-authority-data': Buffer.from(ca).toString('base64'),
  };
  return stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'manager' },
    clusters: [{ name: 'management', cluster }],
    users: [{ name: 'manager', user: { token } }],
    contexts: [{ name: 'manager', context: { cluster: 'management', user: 'manager' } }],
  });
}

/** 0 for one that was killed while it was looked at. */
async function rssMiBOf(manager: ScaleManager): Promise<number> {
  try {
    return await manager.rssMiB();
  } catch (error) {
    if (error instanceof EndedProcess) return 0;
    throw error;
  }
}
