import { setTimeout as pause } from 'node:timers/promises';

import { ApiError } from '../../cluster/api-connection.ts';
import type { KubernetesClient } from '../../cluster/kubernetes-client.ts';
import { isRefusal } from './is-refusal.ts';

/** How much a tenant is used. */
export interface LoadOptions {
  readonly namespace: string;
  /** Writes per second, over all registers. */
  readonly writesPerSecond: number;
  readonly readsPerSecond: number;
  /** ConfigMaps that are written, each by one writer. */
  readonly registers: number;
  /** Readers who were not there before, each with a connection of its own. */
  readonly newcomersPerSecond: number;
  readonly newcomer: () => KubernetesClient;
  /** A client of an API server that nobody touches: how fast that one answers says what this machine allows. */
  readonly floor: KubernetesClient;
  /** A call that fails is made once more after so many milliseconds, and only counts as failed when that fails, too. */
  readonly onceMoreAfterMs?: number;
}

/** What users of a tenant have seen. */
export interface LoadReport {
  /** From the first call to the last, in milliseconds. */
  readonly lastedMs: number;
  readonly asked: Pick<LoadOptions, 'writesPerSecond' | 'readsPerSecond'>;
  readonly writes: number;
  /** Refused by the freeze, in its words. */
  readonly denied: number;
  /** Writes that failed otherwise: their users cannot know whether they were done. */
  readonly failedWrites: readonly string[];
  readonly reads: number;
  readonly failedReads: readonly string[];
  /** Requests that the server wanted again later, and got: every client of Kubernetes does that. */
  readonly repeated: number;
  /** Calls that failed and were made once more, see {@link LoadOptions.onceMoreAfterMs}. */
  readonly onceMore: readonly string[];
  /** Reads that told less than a write that was acknowledged before they began. */
  readonly staleReads: number;
  /** Longest time without an acknowledged write, in milliseconds. */
  readonly longestPauseMs: number;
  /** Longest time that a call took, with all its repeats, in milliseconds. */
  readonly slowestCallMs: number;
  /** Calls of `/version` that the untouched API server answered, one after the other. */
  readonly floor: { readonly calls: number; readonly perSecond: number; readonly slowestMs: number };
}

/** How often the untouched API server is asked. */
const floorPerSecond = 10;

interface Register {
  readonly name: string;
  /** The greatest number of which the server said that it is written. */
  acknowledged: number;
  /** The greatest number that was sent. */
  sent: number;
}

/** Users of a tenant: writers that count upwards, each in a register of its own, and readers that look whether it holds. */
export class TenantLoad implements AsyncDisposable {
  readonly #client: KubernetesClient;
  readonly #options: LoadOptions;
  readonly #registers: readonly Register[];
  readonly #stop = new AbortController();
  #working: Promise<unknown> = Promise.resolve();
  #writes = 0;
  #denied = 0;
  readonly #failedWrites: string[] = [];
  #reads = 0;
  readonly #failedReads: string[] = [];
  readonly #onceMore: string[] = [];
  #staleReads = 0;
  #repeatedBefore = 0;
  #began = performance.now();
  #lastWrite = performance.now();
  #longestPauseMs = 0;
  #slowestCallMs = 0;
  #floorCalls = 0;
  #floorSlowestMs = 0;

  constructor(client: KubernetesClient, options: LoadOptions) {
    this.#client = client;
    this.#options = options;
    this.#registers = Array.from({ length: options.registers }, (_, at) => ({
      name: `register-${at}`,
      acknowledged: 0,
      sent: 0,
    }));
  }

  /** Makes the registers and lets everybody begin. */
  async start(): Promise<void> {
    const { namespace, writesPerSecond, readsPerSecond, registers, newcomersPerSecond, newcomer } = this.#options;
    const objects = this.#registers.map(({ name }) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace },
      data: { count: '0' },
    }));
    await this.#client.apply(objects);
    this.#began = performance.now();
    this.#repeatedBefore = this.#client.connection.repeated;
    this.#lastWrite = this.#began;
    const paceMs = (registers * 1000) / writesPerSecond;
    const writers = this.#registers.map((register) => this.#repeat(paceMs, () => this.#write(register)));
    const reader = this.#repeat(1000 / readsPerSecond, () => this.#read(this.#client));
    const newcomers = this.#repeat(1000 / newcomersPerSecond, () => this.#read(newcomer()));
    const floor = this.#repeat(1000 / floorPerSecond, () => this.#askFloor());
    this.#working = Promise.all([...writers, reader, newcomers, floor]);
  }

  /** Lets everybody finish, and says what they saw. */
  async stop(): Promise<LoadReport> {
    this.#stop.abort();
    await this.#working;
    const { writesPerSecond, readsPerSecond } = this.#options;
    return {
      lastedMs: performance.now() - this.#began,
      asked: { writesPerSecond, readsPerSecond },
      writes: this.#writes,
      denied: this.#denied,
      failedWrites: this.#failedWrites,
      reads: this.#reads,
      failedReads: this.#failedReads,
      repeated: this.#client.connection.repeated - this.#repeatedBefore,
      onceMore: this.#onceMore,
      staleReads: this.#staleReads,
      longestPauseMs: Math.max(this.#longestPauseMs, performance.now() - this.#lastWrite),
      slowestCallMs: this.#slowestCallMs,
      floor: { calls: this.#floorCalls, perSecond: floorPerSecond, slowestMs: this.#floorSlowestMs },
    };
  }

  /** Registers that hold less than what was acknowledged, or what nobody has sent. */
  async lost(): Promise<readonly string[]> {
    const found = await Promise.all(
      this.#registers.map(async (register) => {
        const count = await this.#count(register);
        const { name, acknowledged, sent } = register;
        return count < acknowledged || count > sent ? [`${name} has ${count}, not ${acknowledged} to ${sent}`] : [];
      }),
    );
    return found.flat();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #repeat(paceMs: number, act: () => Promise<void>): Promise<void> {
    for (let due = performance.now(); !this.#stop.signal.aborted;) {
      due += paceMs;
      await act();
      await pause(Math.max(due - performance.now(), 0), undefined, { signal: this.#stop.signal }).catch(
        () => undefined,
      );
      // What the server is slow at is not made up for later.
      due = Math.max(due, performance.now() - paceMs);
    }
  }

  /** The management cluster's server may be away in a scenario: what it does not answer says nothing. */
  async #askFloor(): Promise<void> {
    const began = performance.now();
    const answered = await this.#options.floor.connection.send({ method: 'GET', path: '/version' }).then(
      () => true,
      () => false,
    );
    if (!answered) return;
    this.#floorCalls += 1;
    this.#floorSlowestMs = Math.max(this.#floorSlowestMs, performance.now() - began);
  }

  async #write(register: Register): Promise<void> {
    register.sent += 1;
    const count = register.sent;
    try {
      await this.#twice(() =>
        this.#client.connection.send({
          method: 'PATCH',
          path: this.#pathOf(register),
          contentType: 'application/merge-patch+json',
          body: { data: { count: String(count) } },
        }),
      );
    } catch (error) {
      const message = (error as Error).message;
      if (error instanceof ApiError && error.code === 403 && message.includes('steward-freeze')) {
        this.#denied += 1;
        register.sent = count - 1;
      } else this.#failedWrites.push(this.#at(message));
      return;
    }
    register.acknowledged = count;
    this.#writes += 1;
    const now = performance.now();
    this.#longestPauseMs = Math.max(this.#longestPauseMs, now - this.#lastWrite);
    this.#lastWrite = now;
  }

  async #read(client: KubernetesClient): Promise<void> {
    const register = this.#registers[this.#reads % this.#registers.length];
    if (register === undefined) return;
    this.#reads += 1;
    const atLeast = register.acknowledged;
    try {
      if ((await this.#count(register, client)) < atLeast) this.#staleReads += 1;
    } catch (error) {
      const who = client === this.#client ? '' : 'a newcomer: ';
      this.#failedReads.push(this.#at(`${who}${(error as Error).message}`));
    }
  }

  async #twice<T>(call: () => Promise<T>): Promise<T> {
    const { onceMoreAfterMs } = this.#options;
    const began = performance.now();
    try {
      return await call();
    } catch (error) {
      if (onceMoreAfterMs === undefined || isRefusal(error)) throw error;
      this.#onceMore.push(this.#at((error as Error).message));
      await pause(onceMoreAfterMs);
      return await call();
    } finally {
      this.#slowestCallMs = Math.max(this.#slowestCallMs, performance.now() - began);
    }
  }

  #at(message: string): string {
    return `${((performance.now() - this.#began) / 1000).toFixed(1)} s: ${message}`;
  }

  async #count(register: Register, client = this.#client): Promise<number> {
    const found = await this.#twice(() =>
      client.connection.send<{ readonly data: { readonly count: string } }>({
        method: 'GET',
        path: this.#pathOf(register),
      }),
    );
    return Number(found.data.count);
  }

  #pathOf({ name }: Register): string {
    return `/api/v1/namespaces/${this.#options.namespace}/configmaps/${name}`;
  }
}
