import type { KindRef, Resource } from '../api/meta.ts';
import { exponentialBackoff } from '../runtime/queue/backoff.ts';
import type { Backoff } from '../runtime/queue/backoff.ts';
import type { Clock, Timer } from '../runtime/clock.ts';
import type { ListOf, Selection } from '../runtime/client/cluster.ts';
import { connectionChecksum } from '../runtime/client/connection.ts';
import type { Connection } from '../runtime/client/connection.ts';
import { ApiError } from '../runtime/client/errors.ts';
import { identityOf, isOlder } from '../runtime/cache/object-id.ts';
import type { WatchLine } from '../runtime/client/watch-connection.ts';
import { Expectations } from './expectations.ts';
import type { Presence, Observation } from './expectations.ts';

/** How tenants are watched. */
export interface TenantWatchOptions {
  readonly clock: Clock;
  /** In [0, 1): spreads actions that all tenants would do at once. */
  readonly random: () => number;
  readonly open: (connection: Connection) => WatchLine;
  /** Selects our objects of a kind: nothing else is ever sent to us. */
  readonly select: (kind: KindRef) => Selection;
  /** The first watches of a tenant are opened within this time; 20 000 ms by default. */
  readonly spreadMs?: number;
}

/** Reports the components whose objects were changed or deleted by someone else. */
export type Notify = (components: readonly string[]) => void;

const defaultSpreadMs = 20_000;
/** From an observation to its evaluation, in milliseconds: the response to our own write may arrive after the event. */
const graceMs = 500;
/**
 * The minimum pause between two notifications: an administrator's tool may edit in a loop. The pause doubles while that
 * continues.
 */
const restMs = { firstMs: 2_000, capMs: 5 * 60_000, random: () => 1 } as const;
/** After this time without drift, or twice the last pause, the next drift is reverted as fast as the first. */
const calmMs = 60_000;
/**
 * Until a watch that the server ended is opened again; up to twice as long, and longer when the server ends every watch early.
 */
const againMs = { firstMs: 500, capMs: 5 * 60_000 } as const;
/** Until the watches of a tenant are opened again after an error. */
const retryMs = { firstMs: 4_000, capMs: 120_000 } as const;
/**
 * Of objects that were written within this time, and over the same connection, the API server still has all later events: they need not
 * be listed first.
 */
const freshMs = 60_000;
/** After so many attempts nothing answers there: the next reconcile of the tenant tries again. */
const maxAttempts = 8;
/** If more objects than this have our label, the tenant created them. */
const maxListed = 200;

interface KindWatch {
  stop: (() => void) | undefined;
  /** The timer of the watch that follows an ended one. */
  timer: Timer | undefined;
  /** How many watches in a row ended early. */
  shortEnds: number;
}

interface Place {
  readonly line: WatchLine;
  readonly kind: KindRef;
  readonly kindWatch: KindWatch;
}

/** Watches one tenant for drift of the applied objects. Stores no objects. */
export class TenantWatch {
  readonly #options: TenantWatchOptions;
  readonly #notify: Notify;
  readonly #expectations = new Expectations();
  readonly #inFlight = new Map<string, number>();
  readonly #retry: Backoff;
  readonly #backoff: Backoff;
  /** At most one for each expected object. */
  readonly #observations = new Map<string, Observation>();
  readonly #kindWatches = new Map<KindRef, KindWatch>();
  /** Components that must be applied again regardless of the observations. */
  readonly #overdue = new Set<string>();
  #connection: Connection;
  #line: WatchLine | undefined;
  /** Of the connection that the line was opened with. */
  #checksum: string | undefined;
  #openedAt = 0;
  #attempts = 0;
  #next: Timer | undefined;
  #evaluation: Timer | undefined;
  #notifiedAt = -Infinity;
  #calmDownMs = 0;

  constructor(connection: Connection, notify: Notify, options: TenantWatchOptions) {
    this.#connection = connection;
    this.#notify = notify;
    this.#options = options;
    this.#retry = exponentialBackoff({ ...retryMs, random: options.random });
    this.#backoff = exponentialBackoff(restMs);
    this.#openAfter(options.random() * (options.spreadMs ?? defaultSpreadMs));
  }

  /** True while every kind of the applied objects is watched. */
  get isComplete(): boolean {
    return this.#line !== undefined && [...this.#expectations.kinds()].every((kind) => this.#kindWatches.has(kind));
  }

  /** A component is about to be applied: its objects are not evaluated until `applied` or `failed`. */
  applying(component: string): void {
    this.#inFlight.set(component, (this.#inFlight.get(component) ?? 0) + 1);
  }

  /** The objects of a component from now on. */
  applied(presence: Presence, connection: Connection): void {
    this.#expectations.set(presence);
    this.#connection = connection;
    // The former credentials would keep a second connection open beside that of reconciles.
    if (this.#line !== undefined && this.#checksum !== connectionChecksum(connection)) this.#hangUp();
    this.#settled(presence.component);
    this.wake();
    this.#followSoon();
  }

  failed(component: string): void {
    this.#settled(component);
  }

  /** Others maintain a component from now on. */
  left(component: string): void {
    this.#expectations.forget(component);
    this.#followSoon();
  }

  /** The tenant is being reconciled: watches that were given up are tried again. */
  wake(): void {
    if (this.#line !== undefined || this.#next !== undefined) return;
    this.#attempts = 0;
    this.#openAfter(this.#retry.next());
  }

  close(): void {
    this.#hangUp();
    this.#next?.cancel();
    this.#evaluation?.cancel();
    this.#evaluation = undefined;
    this.#observations.clear();
  }

  #settled(component: string): void {
    const left = (this.#inFlight.get(component) ?? 0) - 1;
    if (left > 0) this.#inFlight.set(component, left);
    else this.#inFlight.delete(component);
    if (this.#observations.size > 0) this.#evaluateLater();
  }

  #openAfter(ms: number): void {
    this.#next = this.#options.clock.after(ms, () => {
      this.#next = undefined;
      if (this.#expectations.kinds().size === 0) return;
      this.#attempts += 1;
      this.#openedAt = this.#options.clock.monotonic();
      try {
        this.#line = this.#options.open(this.#connection);
        this.#checksum = connectionChecksum(this.#connection);
      } catch {
        // Unusable credentials, which reconciles report.
        return;
      }
      this.#followSoon();
    });
  }

  /** Runs in the background. If it fails, all watches of the tenant are closed and opened again later. */
  #followSoon(): void {
    const line = this.#line;
    this.#follow().catch(() => {
      if (line !== undefined) this.#lost(line);
    });
  }

  #listenSoon(place: Place): void {
    this.#listen(place).catch(() => {
      this.#lost(place.line);
    });
  }

  /** Watches every kind that is not watched yet, one after the other, and no other kind. */
  async #follow(): Promise<void> {
    const line = this.#line;
    if (line === undefined) return;
    const kinds = this.#expectations.kinds();
    if (kinds.size === 0) {
      this.#hangUp();
      return;
    }
    for (const [kind, kindWatch] of this.#kindWatches) {
      if (kinds.has(kind)) continue;
      this.#kindWatches.delete(kind);
      silence(kindWatch);
    }
    for (const kind of kinds) {
      if (this.#line !== line) return;
      if (this.#kindWatches.has(kind)) continue;
      const kindWatch: KindWatch = { stop: undefined, timer: undefined, shortEnds: 0 };
      this.#kindWatches.set(kind, kindWatch);
      const place = { line, kind, kindWatch };
      // Over another connection, it may have been written before the data was restored from a backup: the version is in the future now.
      const connectedAt = await line.connectedAt();
      if (this.#kindWatches.get(kind) !== kindWatch) continue;
      const time = Math.max(this.#options.clock.monotonic() - freshMs, connectedAt);
      const from = this.#expectations.writtenAfter(kind, time);
      if (from === undefined) await this.#listen(place);
      else this.#watchKind(place, from);
    }
  }

  /** Lists the existing objects, then watches. */
  async #listen(place: Place): Promise<void> {
    const { line, kind, kindWatch } = place;
    const newest = this.#expectations.newest(kind);
    try {
      const list = await line.list(kind, { ...this.#options.select(kind), limit: maxListed });
      if (this.#kindWatches.get(kind) !== kindWatch) return;
      this.#compare(kind, list, newest);
      this.#watchKind(place, list.resourceVersion);
    } catch {
      // Whatever the error was, the watches are closed.
      this.#lost(line);
    }
  }

  /** Evaluates what changed while nothing was watched. `newest` is the newest resource version that was known before the list. */
  #compare(kind: KindRef, { items, resourceVersion, next }: ListOf<Resource>, newest: string | undefined): void {
    const shown = new Set<string>();
    for (const item of items) {
      const identity = identityOf(item);
      shown.add(identity);
      this.#see({ identity, isGone: false, metadata: item.metadata });
    }
    if (next === undefined) {
      for (const identity of this.#expectations.missing(kind, shown)) {
        this.#see({ identity, isGone: true, metadata: { resourceVersion } });
      }
    }
    if (!isOlder(resourceVersion, newest)) return;
    // The tenant's data was restored from a backup, or migrated: versions say nothing about what was written.
    for (const component of this.#expectations.componentsOf(kind)) this.#overdue.add(component);
    this.#evaluateLater();
  }

  #watchKind(place: Place, from: string): void {
    const { line, kind, kindWatch } = place;
    const { clock, select, random } = this.#options;
    const since = clock.monotonic();
    let resourceVersion = from;
    const ended = (error: unknown): void => {
      const isTooOld = error instanceof ApiError && error.code === 410;
      if (error !== undefined && !isTooOld) {
        this.#lost(line);
        return;
      }
      kindWatch.shortEnds = clock.monotonic() - since > calmMs ? 0 : kindWatch.shortEnds + 1;
      const pause = Math.min(againMs.firstMs * 2 ** kindWatch.shortEnds, againMs.capMs) * (1 + random());
      kindWatch.timer = clock.after(pause, () => {
        if (isTooOld) this.#listenSoon(place);
        else this.#watchKind(place, resourceVersion);
      });
    };
    kindWatch.stop = line.watch(
      kind,
      { ...select(kind), resourceVersion },
      {
        event: (event) => {
          if (!('object' in event)) return;
          const { metadata } = event.object;
          resourceVersion = metadata.resourceVersion;
          this.#see({ identity: identityOf(event.object), isGone: event.type === 'DELETED', metadata });
        },
        ended,
      },
    );
  }

  #see(observation: Observation): void {
    const { identity } = observation;
    // The latest observation counts: one of our own write clears earlier ones.
    this.#observations.delete(identity);
    if (!this.#expectations.notice(observation)) return;
    const { uid, resourceVersion, generation, labels, annotations } = observation.metadata;
    const metadata = {
      uid,
      resourceVersion,
      ...(generation !== undefined && { generation, labels, annotations }),
    };
    this.#observations.set(identity, { ...observation, metadata });
    this.#evaluateLater();
  }

  #evaluateLater(): void {
    if (this.#evaluation !== undefined) return;
    const { clock } = this.#options;
    const wait = Math.max(graceMs, this.#notifiedAt + this.#calmDownMs - clock.monotonic());
    this.#evaluation = clock.after(wait, () => {
      this.#evaluation = undefined;
      this.#evaluate();
    });
  }

  #evaluate(): void {
    const foreign = new Set(this.#overdue);
    this.#overdue.clear();
    for (const [identity, observation] of this.#observations) {
      const component = this.#expectations.evaluate(observation);
      // A component that is being applied is evaluated by the responses.
      if (component !== undefined && this.#inFlight.has(component)) continue;
      this.#observations.delete(identity);
      if (component !== undefined) foreign.add(component);
    }
    if (foreign.size === 0) return;
    const now = this.#options.clock.monotonic();
    if (now - this.#notifiedAt > Math.max(calmMs, 2 * this.#calmDownMs)) this.#backoff.reset();
    this.#calmDownMs = this.#backoff.next();
    this.#notifiedAt = now;
    // A component that is not applied again belongs to someone else now.
    for (const component of foreign) this.#expectations.forget(component);
    this.#notify([...foreign]);
  }

  #lost(line: WatchLine): void {
    if (this.#line !== line) return;
    this.#hangUp();
    if (this.#options.clock.monotonic() - this.#openedAt > calmMs) {
      this.#attempts = 0;
      this.#retry.reset();
    }
    if (this.#attempts < maxAttempts) this.#openAfter(this.#retry.next());
  }

  #hangUp(): void {
    for (const kindWatch of this.#kindWatches.values()) silence(kindWatch);
    this.#kindWatches.clear();
    this.#line?.close();
    this.#line = undefined;
  }
}

function silence({ stop, timer }: KindWatch): void {
  timer?.cancel();
  stop?.();
}
