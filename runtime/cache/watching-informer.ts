import type { Key, KindRef, Resource } from '../../api/meta.ts';
import { exponentialBackoff, type Backoff } from '../queue/backoff.ts';
import { sleep, type Clock } from '../clock.ts';
import type { Cluster, WatchEvent } from '../client/cluster.ts';
import { ApiError } from '../client/errors.ts';
import type { Handler, Informer, InformerHealth, InformerSelection } from './informer.ts';
import type { Logger } from '../observe/logger.ts';
import { ObjectCache, type IndexOf } from './object-cache.ts';

/** What an informer works with. */
export interface InformerTools {
  readonly cluster: Cluster;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: () => number;
  readonly transform: <T extends Resource>(object: T) => T;
}

const absentWaitMs = 30_000;
const shortWatchMs = 1000;
/** A version that could not be continued this often may belong to a state the server no longer has. */
const failuresUntilRelist = 3;

/** Follows until closed; never gives up. */
export function startInformer<T extends Resource>(selection: InformerSelection<T>, tools: InformerTools): Informer<T> {
  return new WatchingInformer(selection, tools);
}

class WatchingInformer<T extends Resource> implements Informer<T> {
  readonly kind: KindRef<T>;
  readonly synced: Promise<void>;
  readonly #selection: InformerSelection<T>;
  readonly #tools: InformerTools;
  readonly #cache = new ObjectCache<T>();
  readonly #handlers = new Set<Handler<T>>();
  readonly #closing = new AbortController();
  readonly #backoff: Backoff;
  readonly #firstSync = Promise.withResolvers<undefined>();
  readonly #running: Promise<void>;
  #wake = new AbortController();
  #version: string | undefined;
  #isSynced = false;
  #absent = false;
  #failures = 0;
  #lastEvent: number | undefined;
  #failing: { readonly since: number; readonly failure: string } | undefined;

  constructor(selection: InformerSelection<T>, tools: InformerTools) {
    this.kind = selection.kind;
    this.#selection = selection;
    this.#tools = tools;
    this.#backoff = exponentialBackoff({ firstMs: 500, capMs: 30_000, random: tools.random });
    this.synced = this.#firstSync.promise.then(() => undefined);
    // Closing before the first sync rejects the promise, which must not count as an unhandled rejection.
    this.synced.catch(() => undefined);
    this.#running = this.#run();
  }

  get(key: Key): T | undefined {
    return this.#cache.get(key);
  }

  list(namespace?: string): readonly T[] {
    return this.#cache.list(namespace);
  }

  byIndex(index: string, value: string): readonly T[] {
    return this.#cache.byIndex(index, value);
  }

  addIndex(name: string, of: IndexOf<T>): void {
    this.#cache.addIndex(name, of);
  }

  subscribe(handler: Handler<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.#cache.list()) this.#call(handler, undefined, object);
    return () => {
      this.#handlers.delete(handler);
    };
  }

  health(): InformerHealth {
    return {
      synced: this.#isSynced,
      absent: this.#absent,
      objects: this.#cache.size,
      lastEvent: this.#lastEvent,
      failingSince: this.#failing?.since,
      failure: this.#failing?.failure,
      version: this.#version,
    };
  }

  lookAgain(): void {
    if (this.#absent) this.#wake.abort(new Error('look again'));
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the informer has been closed'));
    this.#firstSync.reject(new Error(`the informer of ${this.kind.plural} was closed before its first sync`));
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      const since = this.#tools.clock.monotonic();
      const wait = await this.#follow().then(
        () => 0,
        (error: unknown) => (this.#closing.signal.aborted ? 0 : this.#evaluate(error)),
      );
      // For any end of a watch: a server that ends watches at once, over and over, must not cause a busy loop.
      const wasShort = wait === 0 && this.#tools.clock.monotonic() - since < shortWatchMs;
      if (wait > 0 || wasShort) await this.#rest(wasShort ? this.#backoff.next() : wait);
    }
  }

  /** One watch, from its beginning to its end. */
  async #follow(): Promise<void> {
    const { kind, namespace, labelSelector, fieldSelector, metadataOnly } = this.#selection;
    const events = this.#tools.cluster.watch(kind, {
      signal: this.#closing.signal,
      namespace,
      labelSelector,
      fieldSelector,
      metadataOnly,
      resourceVersion: this.#version,
    });
    this.#failures += 1;
    let missing = this.#version === undefined ? new Set(this.#cache.list()) : undefined;
    for await (const event of events) {
      this.#lastEvent = this.#tools.clock.now().getTime();
      if (event.type === 'SYNC') {
        for (const object of missing ?? []) this.#remove(object.metadata);
        missing = undefined;
        this.#version = event.resourceVersion;
        this.#recover();
        this.#sync();
      } else if (missing !== undefined) {
        this.#initial(event, missing);
      } else if (!this.#advance(event)) return;
    }
  }

  /** An event of the initial state: what it names is not missing. */
  #initial(event: Exclude<WatchEvent<T>, { type: 'SYNC' }>, missing: Set<T>): void {
    if (event.type === 'BOOKMARK' || !('object' in event)) return;
    const known = this.#cache.get(event.object.metadata);
    if (known !== undefined) missing.delete(known);
    if (event.type === 'DELETED') this.#remove(event.object.metadata);
    else this.#put(event.object);
  }

  /** A change after the initial state; false when the server has gone back in time and must be listed again. */
  #advance(event: Exclude<WatchEvent<T>, { type: 'SYNC' }>): boolean {
    const version = 'object' in event ? event.object.metadata.resourceVersion : event.resourceVersion;
    if (isOlder(version, this.#version)) {
      this.#tools.log.warn('the server returned an older version, probably restored from a backup: listing again', {
        resource: this.kind.plural,
        known: this.#version,
        seen: version,
      });
      this.#version = undefined;
      return false;
    }
    this.#recover();
    this.#version = version;
    if ('object' in event) {
      if (event.type === 'DELETED') this.#remove(event.object.metadata);
      else this.#put(event.object);
    }
    return true;
  }

  #put(received: T): void {
    const known = this.#cache.get(received.metadata);
    if (known !== undefined && known.metadata.uid !== received.metadata.uid) this.#remove(known.metadata);
    else if (known?.metadata.resourceVersion === received.metadata.resourceVersion) return;
    const { maxObjects = Infinity } = this.#selection;
    if (known === undefined && this.#cache.size >= maxObjects) {
      this.#version = undefined;
      throw new Error(`there are more than ${maxObjects} ${this.kind.plural}; the rest is ignored`);
    }
    const object = this.#tools.transform(received);
    this.#notify(this.#cache.put(object), object);
  }

  #remove(metadata: Key): void {
    const old = this.#cache.remove(metadata);
    if (old !== undefined) this.#notify(old, undefined);
  }

  #notify(old: T | undefined, now: T | undefined): void {
    for (const handler of this.#handlers) this.#call(handler, old, now);
  }

  #call(handler: Handler<T>, old: T | undefined, now: T | undefined): void {
    try {
      handler(old, now);
    } catch (error) {
      const { namespace, name } = (now ?? old)?.metadata ?? {};
      this.#tools.log.error('a change handler failed', { resource: this.kind.plural, namespace, name, error });
    }
  }

  #sync(): void {
    this.#isSynced = true;
    this.#firstSync.resolve(undefined);
  }

  #recover(): void {
    if (this.#failing !== undefined) this.#tools.log.info('a watch works again', { resource: this.kind.plural });
    this.#failing = undefined;
    this.#absent = false;
    this.#failures = 0;
    this.#backoff.reset();
  }

  /** What a failed watch means for the next one; returns the wait before it, in milliseconds. */
  #evaluate(error: unknown): number {
    if (error instanceof ApiError && error.code === 410 && this.#version !== undefined) {
      this.#version = undefined;
      return 0;
    }
    const isAbsent = error instanceof ApiError && error.code === 404;
    if (isAbsent && this.#selection.optional === true) {
      this.#withdraw();
      return absentWaitMs;
    }
    if (this.#failures >= failuresUntilRelist || isAbsent) this.#version = undefined;
    const failure = error instanceof Error ? error.message : String(error);
    this.#absent = isAbsent;
    // Logged once: the same failure repeats with every retry.
    const level = this.#failing?.failure === failure ? 'debug' : 'warn';
    this.#failing = { since: this.#failing?.since ?? this.#tools.clock.now().getTime(), failure };
    const wait = Math.max(this.#backoff.next(), error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0);
    this.#tools.log[level](
      this.#absent ? 'the API is absent; is its CRD installed?' : 'a watch failed and is restarted',
      {
        resource: this.kind.plural,
        group: this.kind.group,
        afterMs: Math.round(wait),
        error,
      },
    );
    return wait;
  }

  /** The optional API is not there, or not anymore: an empty cache is the truth. */
  #withdraw(): void {
    if (!this.#absent)
      this.#tools.log.info('an optional API is absent', { resource: this.kind.plural, group: this.kind.group });
    this.#recover();
    this.#absent = true;
    this.#version = undefined;
    for (const object of this.#cache.list()) this.#remove(object.metadata);
    this.#sync();
  }

  async #rest(ms: number): Promise<void> {
    this.#wake = new AbortController();
    const signal = AbortSignal.any([this.#wake.signal, this.#closing.signal]);
    // The signal is there to end the wait early.
    await sleep(this.#tools.clock, ms, signal).catch(() => undefined);
  }
}

/** Versions are decimal numbers that grow (KEP-5504). */
function isOlder(version: string, than: string | undefined): boolean {
  if (than === undefined || version.length > than.length) return false;
  return version.length < than.length || version < than;
}
