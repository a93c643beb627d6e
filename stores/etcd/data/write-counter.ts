import type { KeyRange } from '../range.ts';
import type { EtcdDataCalls } from './data-client.ts';
import { WatchCompactedError } from './watch.ts';
import type { EtcdWatch, WatchNews } from './watch.ts';

/** How long a call waits for changes that the watch has not sent yet, in milliseconds: the next call counts them. */
const patienceMs = 500;

/** A watch that has not caught up does not answer progress requests, so they are repeated. Milliseconds. */
const askAgainMs = 20;

/** A watch is read from the time it is open; so often one that is silent is asked again. Milliseconds. */
const silenceMs = 60_000;

/** A lost watch goes on where it ended for so long, in milliseconds: etcd reads the history of all its tenants for that. */
const resumableMs = 120_000;

type Watching = Pick<EtcdWatch, 'next' | 'askProgress'> & AsyncDisposable;

/** The calls that counting needs. */
export interface CountingCalls extends Pick<EtcdDataCalls, 'count'> {
  watch(range: KeyRange, from: bigint): Promise<Watching>;
}

/**
 * Counts the changes of a range. etcd has no such figure, and to replay them it would read the history of all tenants. So a watch stays
 * open, each of whose messages is counted and dropped when it comes: it costs etcd nothing but sending what its tenant writes. The count
 * begins with 0, and is exact unless the watch is lost for longer than two minutes, or beyond a compaction: what was written then is missing.
 */
export class EtcdWriteCounter implements AsyncDisposable {
  readonly #client: CountingCalls;
  readonly #range: KeyRange;
  #count = 0;
  /** Everything up to here is counted; undefined before the first call. */
  #revision: bigint | undefined;
  /** When this was so. */
  #at = 0;
  #watch: Watching | undefined;
  #wake: () => void = () => undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(client: CountingCalls, range: KeyRange) {
    this.#client = client;
    this.#range = range;
  }

  /** The changes since the first call, which says 0. Those of the last moments may be missing while there are very many. */
  count(signal: AbortSignal): Promise<number> {
    const catchUp = (): Promise<number> => this.#catchUp(signal);
    // Also after one that failed, which its own caller hears of.
    const counted = this.#turn.then(catchUp, catchUp);
    this.#turn = counted;
    return counted;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const watch = this.#watch;
    this.#watch = undefined;
    this.#wake();
    await watch?.[Symbol.asyncDispose]();
  }

  async #catchUp(signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    const { start } = this.#range;
    // From a member that has seen all acknowledged writes; the member that serves the watch may lag behind.
    const { revision: goal } = await this.#client.count({ start, end: Buffer.concat([start, Buffer.from([0])]) });
    const watch = (this.#watch ??= await this.#open(goal));
    const end = performance.now() + patienceMs;
    while (this.#revision !== undefined && this.#revision < goal && this.#watch === watch && performance.now() < end) {
      signal.throwIfAborted();
      watch.askProgress();
      await this.#news();
    }
    return this.#count;
  }

  async #open(newest: bigint): Promise<Watching> {
    const isResumed = this.#revision !== undefined && performance.now() - this.#at < resumableMs;
    const from = isResumed ? (this.#revision ?? newest) : newest;
    this.#reached(from);
    const watch = await this.#client.watch(this.#range, from + 1n);
    this.#following(watch);
    return watch;
  }

  /** Reads a watch until it ends. */
  #following(watch: Watching): void {
    const ended = (error: unknown): void => {
      // What was compacted cannot be counted anymore.
      if (error instanceof WatchCompactedError) this.#revision = undefined;
      // Whatever ended it: the next call opens another one, and says why it cannot.
      if (this.#watch === watch) this.#watch = undefined;
      this.#wake();
    };
    const follow = async (): Promise<void> => {
      await using followed = watch;
      try {
        for (;;) this.#take(await followed.next(silenceMs));
      } catch (error) {
        ended(error);
      }
    };
    // What is left to fail is to close it, which ends it as well.
    follow().catch(ended);
  }

  #take(news: WatchNews | undefined): void {
    if (news === undefined) return;
    if (news.is === 'progress') this.#reached(news.revision);
    else {
      this.#count += news.events.length;
      this.#reached(BigInt(news.events.at(-1)?.kv.mod_revision ?? 0));
    }
    this.#wake();
  }

  #reached(revision: bigint): void {
    this.#at = performance.now();
    if (this.#revision === undefined || revision > this.#revision) this.#revision = revision;
  }

  /** Resolves with the next news, or after a moment. */
  async #news(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, askAgainMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
