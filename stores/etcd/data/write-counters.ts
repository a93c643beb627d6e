import type { KeyRange } from '../range.ts';
import { EtcdWriteCounter } from './write-counter.ts';
import type { CountingCalls } from './write-counter.ts';

/** A count that nobody asks for anymore ends, in milliseconds. */
const idleMs = 300_000;

interface Kept {
  readonly counter: EtcdWriteCounter;
  usedAt: number;
}

/** The counts of the tenancies whose writes are asked for. */
export class EtcdWriteCounters implements AsyncDisposable {
  readonly #client: CountingCalls;
  readonly #kept = new Map<string, Kept>();

  constructor(client: CountingCalls) {
    this.#client = client;
  }

  /** The writes to a tenancy since it was first asked for. */
  async count(schema: string, range: KeyRange, signal: AbortSignal): Promise<number> {
    await this.endIdle();
    const kept = this.#kept.get(schema) ?? { counter: new EtcdWriteCounter(this.#client, range), usedAt: 0 };
    this.#kept.set(schema, kept);
    kept.usedAt = performance.now();
    return kept.counter.count(signal);
  }

  /** Ends the counts that were not asked for lately. */
  async endIdle(): Promise<void> {
    const now = performance.now();
    for (const [schema, { usedAt }] of [...this.#kept]) if (now - usedAt > idleMs) await this.end(schema);
  }

  /** Ends the count of a tenancy, if there is one. */
  async end(schema: string): Promise<void> {
    const kept = this.#kept.get(schema);
    this.#kept.delete(schema);
    await kept?.counter[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const schema of [...this.#kept.keys()]) await this.end(schema);
  }
}
