import { setTimeout as delay } from 'node:timers/promises';
import type { ApiServerHand } from './tenancy-data-contract.ts';

const writers = 12;
const keysOfWriter = 25;

/** Milliseconds between two writes of a writer. */
const paceMs = 40;

/** Milliseconds between two reads. */
const readPaceMs = 25;

/** What a tenant knows of a key: what the store has acknowledged, and what it may have taken although no answer came. */
export interface Known {
  readonly acknowledged: string | undefined;
  readonly inDoubt?: { readonly value: string | undefined };
}

/** A tenant that continues to write and read while its store changes, and knows which writes were acknowledged. */
export class BusyTenant implements AsyncDisposable {
  #hand: ApiServerHand;
  readonly #known = new Map<string, Known>();
  readonly #working: readonly Promise<void>[];
  readonly #started = performance.now();
  #over = false;
  #writes = 0;
  #refusedWrites = 0;
  #reads = 0;
  #failedReads = 0;
  readonly #repeatedReads: string[] = [];
  #staleReads = 0;
  #highestRevision = 0n;
  #lastWriteAt = performance.now();
  #longestPauseMs = 0;
  #revisionsFell = 0;

  constructor(hand: ApiServerHand) {
    this.#hand = hand;
    this.#working = [...Array.from({ length: writers }, (_, index) => this.#write(index)), this.#read()];
  }

  /** The API server runs on another store from now on. */
  moveTo(hand: ApiServerHand): void {
    this.#hand = hand;
  }

  /** Acknowledged so far. */
  get writes(): number {
    return this.#writes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }

  /** Ends the work, and returns its result. */
  async end() {
    this.#over = true;
    await Promise.all(this.#working);
    const seconds = (performance.now() - this.#started) / 1000;
    return {
      writes: this.#writes,
      writesPerSecond: Math.round(this.#writes / seconds),
      refusedWrites: this.#refusedWrites,
      reads: this.#reads,
      /** Those that failed twice in a row. */
      failedReads: this.#failedReads,
      /** Why a read was repeated. */
      repeatedReads: this.#repeatedReads,
      staleReads: this.#staleReads,
      revisionsFell: this.#revisionsFell,
    };
  }

  /** What the store has acknowledged so far, by key. */
  promised(): ReadonlyMap<string, Known> {
    return new Map(this.#known);
  }

  /** The longest time without an acknowledged write since the last call, in milliseconds. */
  longestPauseMs(): number {
    const longest = Math.round(this.#longestPauseMs);
    this.#longestPauseMs = 0;
    return longest;
  }

  async #write(writer: number): Promise<void> {
    for (let count = 0; !this.#over; count += 1) {
      const key = `pods/writer-${writer}/${count % keysOfWriter}`;
      const value = count % 7 === 6 ? undefined : `write ${count} of ${writer}`;
      const before = this.#known.get(key)?.acknowledged;
      this.#known.set(key, { acknowledged: before, inDoubt: { value } });
      const hand = this.#hand;
      try {
        if (value === undefined) await hand.delete(key);
        else this.#acknowledge(await hand.put(key, Buffer.from(value)));
        this.#known.set(key, { acknowledged: value });
        // Only this client writes the key, so the value read is the one just acknowledged.
        if (count % 5 === 0 && textOf(await hand.get(key)) !== value) this.#staleReads += 1;
      } catch {
        this.#refusedWrites += 1;
        // The same key again, so that what is in doubt is settled by what is acknowledged next.
        count -= 1;
      }
      await delay(paceMs);
    }
  }

  #acknowledge(revision: bigint): void {
    const now = performance.now();
    this.#writes += 1;
    this.#longestPauseMs = Math.max(this.#longestPauseMs, now - this.#lastWriteAt);
    this.#lastWriteAt = now;
    // Writers overtake each other a little; another store would be far below.
    if (revision + 1000n < this.#highestRevision) this.#revisionsFell += 1;
    if (revision > this.#highestRevision) this.#highestRevision = revision;
  }

  async #read(): Promise<void> {
    while (!this.#over) {
      const read = (): Promise<unknown> => this.#hand.get('pods/read');
      const again = (error: unknown): Promise<unknown> => {
        this.#repeatedReads.push(String(error));
        return read();
      };
      // Once more, as clients of an API server do: a busy machine may let a single call run out of its time.
      await read()
        .catch(again)
        .then(
          () => (this.#reads += 1),
          () => (this.#failedReads += 1),
        );
      await delay(readPaceMs);
    }
  }
}

function textOf(value: Uint8Array | undefined): string | undefined {
  return value === undefined ? undefined : Buffer.from(value).toString();
}

/** The keys whose content differs from what was acknowledged: lost writes. */
export function lostWrites(
  promised: ReadonlyMap<string, Known>,
  content: ReadonlyMap<string, string>,
): readonly string[] {
  return [...promised].flatMap(([key, { acknowledged, inDoubt }]) => {
    const found = content.get(key);
    const fits = found === acknowledged || (inDoubt !== undefined && found === inDoubt.value);
    return fits ? [] : [`${key}: ${found ?? 'absent'} instead of ${acknowledged ?? 'absent'}`];
  });
}
