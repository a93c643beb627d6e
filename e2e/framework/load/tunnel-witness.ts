import { setTimeout as pause } from 'node:timers/promises';

import { lastLines } from '../../cluster/machines/run-command.ts';

/** What somebody who reads logs of a pod and runs programs in it has seen. */
export interface TunnelReport {
  readonly calls: number;
  /** Each call that failed: when it began, and why. */
  readonly failed: readonly string[];
  /** From the begin of the first of several failed calls to the end of the next one that succeeded. */
  readonly longestOutageMs: number;
}

/** Makes these calls by turns all the time, one after the other. */
export class TunnelWitness implements AsyncDisposable {
  readonly #stop = new AbortController();
  readonly #failed: string[] = [];
  readonly #began = performance.now();
  readonly #working: Promise<void>;
  #calls = 0;
  #outageSince: number | undefined;
  #longestOutageMs = 0;

  constructor(calls: Readonly<Record<string, () => Promise<unknown>>>) {
    this.#working = this.#repeat(Object.entries(calls));
  }

  /** Goes on until a call succeeds, for 30 s at most, and says what was seen. */
  async stop(): Promise<TunnelReport> {
    this.#stop.abort();
    await this.#working;
    return { calls: this.#calls, failed: this.#failed, longestOutageMs: this.#longestOutageMs };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #repeat(calls: readonly (readonly [string, () => Promise<unknown>])[]): Promise<void> {
    const isOver = (): boolean =>
      this.#stop.signal.aborted && (this.#outageSince === undefined || performance.now() - this.#outageSince > 30_000);
    while (!isOver()) {
      for (const [name, call] of calls) await this.#make(name, call);
      await pause(200);
    }
  }

  async #make(name: string, call: () => Promise<unknown>): Promise<void> {
    const began = performance.now();
    this.#calls += 1;
    try {
      await call();
      this.#noteOutage();
      this.#outageSince = undefined;
    } catch (error) {
      this.#outageSince ??= began;
      this.#noteOutage();
      const why = lastLines((error as Error).message, 1);
      this.#failed.push(`${((began - this.#began) / 1000).toFixed(1)} s, ${name}: ${why}`);
    }
  }

  #noteOutage(): void {
    if (this.#outageSince === undefined) return;
    this.#longestOutageMs = Math.max(this.#longestOutageMs, performance.now() - this.#outageSince);
  }
}
