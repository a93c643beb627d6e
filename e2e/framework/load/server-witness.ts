import { setTimeout as pause } from 'node:timers/promises';

import type { KubernetesClient } from '../../cluster/kubernetes-client.ts';

/** What callers of `/version` have seen while servers were exchanged. */
export interface ServerReport {
  readonly calls: number;
  readonly failed: readonly string[];
  /** The longest time until an answer, in milliseconds. */
  readonly slowestMs: number;
  /** Calls that were not answered and were made once more. */
  readonly onceMore: readonly string[];
  /** How often each version answered. */
  readonly answers: Readonly<Record<string, number>>;
  /** Calls that began after another version had answered for the first time, and that the version of before answered. */
  readonly answeredByOld: number;
  /** Those of them that were made over a new connection. */
  readonly newcomersAnsweredByOld: number;
  /** From the first answer of the new version to the last of the old one, in milliseconds; 0 when they do not overlap. */
  readonly mixedMs: number;
}

interface Answer {
  readonly version: string;
  readonly began: number;
  readonly ended: number;
  readonly isNewcomer: boolean;
}

/** Asks a control plane all the time who answers: over a connection that is kept, and over a new one for every call. */
export class ServerWitness implements AsyncDisposable {
  readonly #kept: KubernetesClient;
  readonly #newcomer: () => KubernetesClient;
  readonly #onceMoreAfterMs: number | undefined;
  readonly #stop = new AbortController();
  readonly #onceMore: string[] = [];
  readonly #answers: Answer[] = [];
  readonly #failed: string[] = [];
  readonly #working: Promise<unknown>;
  readonly #began = performance.now();

  /**
   * `callsPerSecond` counts for each of the two ways. A call that fails is made once more after `onceMoreAfterMs`, if
   * given, and counts as failed when that fails, too.
   */
  constructor(
    kept: KubernetesClient,
    newcomer: () => KubernetesClient,
    pace: { readonly callsPerSecond: number; readonly onceMoreAfterMs?: number | undefined },
  ) {
    this.#kept = kept;
    this.#newcomer = newcomer;
    this.#onceMoreAfterMs = pace.onceMoreAfterMs;
    const paceMs = 1000 / pace.callsPerSecond;
    this.#working = Promise.all([
      this.#repeat(paceMs, () => this.#ask(() => this.#kept, 'kept')),
      this.#repeat(paceMs, () => this.#ask(this.#newcomer, 'new')),
    ]);
  }

  /** Lets the callers finish, and says what they saw. */
  async stop(): Promise<ServerReport> {
    this.#stop.abort();
    await this.#working;
    const [first] = this.#answers.toSorted((a, b) => a.ended - b.ended);
    const old = this.#answers.filter(({ version }) => version === first?.version);
    const firstOfNew = Math.min(
      ...this.#answers.filter(({ version }) => version !== first?.version).map(({ ended }) => ended),
    );
    const late = old.filter(({ began }) => began > firstOfNew);
    const answers: Record<string, number> = {};
    for (const { version } of this.#answers) answers[version] = (answers[version] ?? 0) + 1;
    return {
      calls: this.#answers.length + this.#failed.length,
      failed: this.#failed,
      slowestMs: Math.max(0, ...this.#answers.map(({ began, ended }) => ended - began)),
      onceMore: this.#onceMore,
      answers,
      answeredByOld: late.length,
      newcomersAnsweredByOld: late.filter(({ isNewcomer }) => isNewcomer).length,
      mixedMs: Math.max(0, ...old.map(({ ended }) => ended - firstOfNew)),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Calls do not wait for each other: a slow one must not hide what others would have met. */
  async #repeat(paceMs: number, act: () => Promise<void>): Promise<void> {
    const calls: Promise<void>[] = [];
    while (!this.#stop.signal.aborted) {
      calls.push(act());
      await pause(paceMs, undefined, { signal: this.#stop.signal }).catch(() => undefined /* aborted */);
    }
    await Promise.all(calls);
  }

  async #ask(open: () => KubernetesClient, connection: string): Promise<void> {
    const first = await this.#call(open());
    if (first === undefined) return;
    const failure = `${((performance.now() - this.#began) / 1000).toFixed(1)} s, ${connection} connection: ${first}`;
    if (this.#onceMoreAfterMs === undefined) {
      this.#failed.push(failure);
      return;
    }
    this.#onceMore.push(failure);
    await pause(this.#onceMoreAfterMs);
    const second = await this.#call(open());
    if (second !== undefined) this.#failed.push(`${failure}; once more: ${second}`);
  }

  /** Why there was no answer; undefined when there was one. */
  async #call(client: KubernetesClient): Promise<string | undefined> {
    const began = performance.now();
    try {
      const { gitVersion } = await client.connection.send<{ readonly gitVersion: string }>({
        method: 'GET',
        path: '/version',
      });
      this.#answers.push({ version: gitVersion, began, ended: performance.now(), isNewcomer: client !== this.#kept });
      return undefined;
    } catch (error) {
      const { message, cause } = error as Error;
      return cause instanceof Error ? `${message}: ${cause.message}` : message;
    } finally {
      if (client !== this.#kept) await client.connection.close();
    }
  }
}
