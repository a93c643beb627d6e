import type { IWatchResponse } from 'etcd3';
import { StoreError } from '../../store-error.ts';
import { largestPage, longestPage } from '../../tenancy-data.ts';
import { entryOf } from './data-client.ts';
import type { EtcdDataCalls, EtcdEntry } from './data-client.ts';
import type { KeyRange } from '../range.ts';
import type { EtcdWatch } from './watch.ts';

type Event = IWatchResponse['events'][number];

/** The last change of a key. */
export type EtcdChange =
  { readonly is: 'put'; readonly entry: EtcdEntry } | { readonly is: 'deleted'; readonly key: Buffer };

/** Changes up to a revision. */
export interface EtcdChanges {
  readonly changes: readonly EtcdChange[];
  readonly revision: bigint;
}

/** A watch that has not caught up does not answer progress requests, so they are repeated. Milliseconds. */
const askAgainMs = 20;

/** Milliseconds within which events or a progress notification must arrive. */
const patienceMs = 10_000;

interface Open {
  readonly watch: EtcdWatch;
  /** The revision up to which changes were returned. */
  position: bigint;
  /** Received, not returned yet. */
  pending: Event[];
}

/**
 * The changes of a range, over one watch that stays open between calls: each call goes on where the last one ended, or a new
 * watch is opened.
 */
export class EtcdChangeFeed implements AsyncDisposable {
  readonly #client: Pick<EtcdDataCalls, 'count' | 'watch'>;
  readonly #range: KeyRange;
  #open: Open | undefined;

  constructor(client: Pick<EtcdDataCalls, 'count' | 'watch'>, range: KeyRange) {
    this.#client = client;
    this.#range = range;
  }

  /** What changed after a revision, about a page of it, and nothing after `through`. Throws `CompactedError` and `StoreError`. */
  async since(after: bigint, through?: bigint): Promise<EtcdChanges> {
    // From a member that has seen all acknowledged writes; the member that serves the watch may lag behind.
    const goal = through ?? (await this.#client.count(this.#range)).revision;
    if (goal <= after) return { changes: [], revision: after };
    try {
      return await collect(await this.#at(after), goal, through);
    } catch (error) {
      await this[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#open?.watch[Symbol.asyncDispose]();
    this.#open = undefined;
  }

  async #at(position: bigint): Promise<Open> {
    if (this.#open?.position !== position) {
      await this[Symbol.asyncDispose]();
      this.#open = { watch: await this.#client.watch(this.#range, position + 1n), position, pending: [] };
    }
    return this.#open;
  }
}

async function collect(open: Open, goal: bigint, through?: bigint): Promise<EtcdChanges> {
  const changes = new Map<string, Event>();
  let bytes = 0;
  let last: bigint | undefined;
  const full = (): boolean => changes.size >= longestPage || bytes >= largestPage;
  const result = (revision: bigint): EtcdChanges => {
    open.position = revision;
    return { changes: [...changes.values()].map(changeOf), revision };
  };
  for (;;) {
    let event: Event | undefined;
    while ((event = open.pending[0]) !== undefined) {
      const revision = BigInt(event.kv.mod_revision);
      if (through !== undefined && revision > through) return result(through);
      // A revision is not split: the next one begins another page.
      if (last !== undefined && revision > last && full()) return result(last);
      open.pending.shift();
      // Deleted and set again, so that the map is in the order of the last changes.
      const name = event.kv.key.toString('latin1');
      changes.delete(name);
      changes.set(name, event);
      bytes += event.kv.value.length;
      last = revision;
    }
    const news = await arriving(open.watch);
    if (news.is === 'events') open.pending.push(...news.events);
    else if (news.revision >= goal) return result(through ?? news.revision);
  }
}

async function arriving(watch: EtcdWatch): Promise<NonNullable<Awaited<ReturnType<EtcdWatch['next']>>>> {
  const end = performance.now() + patienceMs;
  for (;;) {
    watch.askProgress();
    const news = await watch.next(askAgainMs);
    if (news !== undefined) return news;
    if (performance.now() > end) {
      throw new StoreError('Unreachable', `etcd sent nothing over a watch for ${patienceMs / 1000} s`);
    }
  }
}

function changeOf(event: Event): EtcdChange {
  return event.type === 'Delete' ? { is: 'deleted', key: event.kv.key } : { is: 'put', entry: entryOf(event.kv) };
}
