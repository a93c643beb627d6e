import type { KindRef, Resource } from '../api/meta.ts';
import { exponentialBackoff } from '../runtime/backoff.ts';
import type { Backoff } from '../runtime/backoff.ts';
import type { Clock, Timer } from '../runtime/clock.ts';
import type { ListOf, Selection } from '../runtime/cluster.ts';
import type { Connection } from '../runtime/connection.ts';
import { ApiError } from '../runtime/errors.ts';
import { identityOf, isOlder } from '../runtime/object-id.ts';
import type { WatchLine } from '../runtime/watch-line.ts';
import { Expectations } from './expectations.ts';
import type { Presence, Sighting } from './expectations.ts';

/** How tenants are listened to. */
export interface TenantWatchOptions {
  readonly clock: Clock;
  /** In [0, 1): spreads what all tenants would do at once. */
  readonly random: () => number;
  readonly open: (connection: Connection) => WatchLine;
  /** Selects what is ours of a kind: nothing else is ever sent to us. */
  readonly select: (kind: KindRef) => Selection;
  /** The first line to a tenant is opened within this time; 20 000 ms unless said. */
  readonly spreadMs?: number;
}

/** Says whose objects were changed or deleted by somebody else. */
export type Ring = (components: readonly string[]) => void;

const defaultSpreadMs = 20_000;
/** From a sighting to its judgement, in milliseconds: the answer to our own write may come after the event. */
const graceMs = 500;
/** Between two rings at least: an administrator's tool may edit in a loop. The pause doubles while that goes on. */
const restMs = { firstMs: 2_000, capMs: 5 * 60_000, random: () => 1 } as const;
/** Nothing for so long, or twice the last pause, and the next foreign edit is repaired as fast as the first. */
const calmMs = 60_000;
/** After a watch that the server ended; up to twice as long, and longer when it ends every watch early. */
const againMs = { firstMs: 500, capMs: 5 * 60_000 } as const;
/** After a line was lost. */
const retryMs = { firstMs: 4_000, capMs: 120_000 } as const;
/** Then nobody answers there: the next visit of the tenant tries again. */
const maxAttempts = 8;
/** More objects than that with our label are the tenant's own making. */
const maxListed = 200;

interface Heard {
  stop: (() => void) | undefined;
  /** Of the watch that follows one that ended. */
  timer: Timer | undefined;
  /** How many watches in a row ended early. */
  shortEnds: number;
}

interface Place {
  readonly line: WatchLine;
  readonly kind: KindRef;
  readonly heard: Heard;
}

/** Listens to one tenant for foreign edits of what was applied in it. Keeps no object. */
export class TenantWatch {
  readonly #options: TenantWatchOptions;
  readonly #ring: Ring;
  readonly #expectations = new Expectations();
  readonly #inFlight = new Map<string, number>();
  readonly #retry: Backoff;
  readonly #rest: Backoff;
  /** Kept small: one of each expected object at most. */
  readonly #sightings = new Map<string, Sighting>();
  readonly #heard = new Map<KindRef, Heard>();
  /** Components that must be applied again, whatever is seen of them. */
  readonly #overdue = new Set<string>();
  #connection: Connection;
  #line: WatchLine | undefined;
  #openedAt = 0;
  #attempts = 0;
  #next: Timer | undefined;
  #judgement: Timer | undefined;
  #rang = -Infinity;
  #restingMs = 0;

  constructor(connection: Connection, ring: Ring, options: TenantWatchOptions) {
    this.#connection = connection;
    this.#ring = ring;
    this.#options = options;
    this.#retry = exponentialBackoff({ ...retryMs, random: options.random });
    this.#rest = exponentialBackoff(restMs);
    this.#openAfter(options.random() * (options.spreadMs ?? defaultSpreadMs));
  }

  /** True while every kind of what was applied is listened to. */
  get hears(): boolean {
    return this.#line !== undefined && [...this.#expectations.kinds()].every((kind) => this.#heard.has(kind));
  }

  /** A component is about to be applied: nothing of it is judged until `applied` or `failed`. */
  applying(component: string): void {
    this.#inFlight.set(component, (this.#inFlight.get(component) ?? 0) + 1);
  }

  /** What there is of a component from now on. */
  applied(presence: Presence, connection: Connection): void {
    this.#expectations.set(presence);
    this.#connection = connection;
    this.#settled(presence.component);
    this.wake();
    this.#followSoon();
  }

  failed(component: string): void {
    this.#settled(component);
  }

  /** Others look after a component from now on. */
  left(component: string): void {
    this.#expectations.forget(component);
    this.#followSoon();
  }

  /** Somebody is with the tenant: a line that was given up is tried again. */
  wake(): void {
    if (this.#line !== undefined || this.#next !== undefined) return;
    this.#attempts = 0;
    this.#openAfter(this.#retry.next());
  }

  close(): void {
    this.#hangUp();
    this.#next?.cancel();
    this.#judgement?.cancel();
    this.#judgement = undefined;
    this.#sightings.clear();
  }

  #settled(component: string): void {
    const left = (this.#inFlight.get(component) ?? 0) - 1;
    if (left > 0) this.#inFlight.set(component, left);
    else this.#inFlight.delete(component);
    if (this.#sightings.size > 0) this.#judgeLater();
  }

  #openAfter(ms: number): void {
    this.#next = this.#options.clock.after(ms, () => {
      this.#next = undefined;
      if (this.#expectations.kinds().size === 0) return;
      this.#attempts += 1;
      this.#openedAt = this.#options.clock.monotonic();
      try {
        this.#line = this.#options.open(this.#connection);
      } catch {
        // Credentials that cannot be used: the visits say so.
        return;
      }
      this.#followSoon();
    });
  }

  /** Nobody waits for it. A line on which it fails is of no use. */
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

  /** Listens to every kind that is not heard yet, one after the other, and to no other. */
  async #follow(): Promise<void> {
    const line = this.#line;
    if (line === undefined) return;
    const kinds = this.#expectations.kinds();
    if (kinds.size === 0) {
      this.#hangUp();
      return;
    }
    for (const [kind, heard] of this.#heard) {
      if (kinds.has(kind)) continue;
      this.#heard.delete(kind);
      silence(heard);
    }
    for (const kind of kinds) {
      if (this.#line !== line) return;
      if (this.#heard.has(kind)) continue;
      const heard: Heard = { stop: undefined, timer: undefined, shortEnds: 0 };
      this.#heard.set(kind, heard);
      await this.#listen({ line, kind, heard });
    }
  }

  /** Looks what there is, and hears what comes after. */
  async #listen(place: Place): Promise<void> {
    const { line, kind, heard } = place;
    const newest = this.#expectations.newest(kind);
    try {
      const list = await line.list(kind, { ...this.#options.select(kind), limit: maxListed });
      if (this.#heard.get(kind) !== heard) return;
      this.#compare(kind, list, newest);
      this.#hear(place, list.resourceVersion);
    } catch {
      // Whatever it was, the line is of no use.
      this.#lost(line);
    }
  }

  /** Sees what changed while nobody listened. `newest` is the newest version that was known before the list. */
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
    // The tenant's data went back in time, or came from another store: versions say nothing about what was written.
    for (const component of this.#expectations.componentsOf(kind)) this.#overdue.add(component);
    this.#judgeLater();
  }

  #hear(place: Place, from: string): void {
    const { line, kind, heard } = place;
    const { clock, select, random } = this.#options;
    const since = clock.monotonic();
    let resourceVersion = from;
    const ended = (error: unknown): void => {
      const isTooOld = error instanceof ApiError && error.code === 410;
      if (error !== undefined && !isTooOld) {
        this.#lost(line);
        return;
      }
      heard.shortEnds = clock.monotonic() - since > calmMs ? 0 : heard.shortEnds + 1;
      const pause = Math.min(againMs.firstMs * 2 ** heard.shortEnds, againMs.capMs) * (1 + random());
      heard.timer = clock.after(pause, () => {
        if (isTooOld) this.#listenSoon(place);
        else this.#hear(place, resourceVersion);
      });
    };
    heard.stop = line.watch(
      kind,
      { ...select(kind), resourceVersion },
      {
        event: (event) => {
          if (!('object' in event)) return;
          const { metadata } = event.object;
          resourceVersion = metadata.resourceVersion ?? resourceVersion;
          this.#see({ identity: identityOf(event.object), isGone: event.type === 'DELETED', metadata });
        },
        ended,
      },
    );
  }

  #see(sighting: Sighting): void {
    const { identity } = sighting;
    // The latest counts: one that shows our own write clears what was seen before.
    this.#sightings.delete(identity);
    if (!this.#expectations.notice(sighting)) return;
    const { uid, resourceVersion, generation, labels, annotations } = sighting.metadata;
    const metadata = {
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(generation !== undefined && { generation, ...(labels && { labels }), ...(annotations && { annotations }) }),
    };
    this.#sightings.set(identity, { ...sighting, metadata });
    this.#judgeLater();
  }

  #judgeLater(): void {
    if (this.#judgement !== undefined) return;
    const { clock } = this.#options;
    const wait = Math.max(graceMs, this.#rang + this.#restingMs - clock.monotonic());
    this.#judgement = clock.after(wait, () => {
      this.#judgement = undefined;
      this.#judge();
    });
  }

  #judge(): void {
    const foreign = new Set(this.#overdue);
    this.#overdue.clear();
    for (const [identity, sighting] of this.#sightings) {
      const component = this.#expectations.judge(sighting);
      // What is being applied is judged by the answers.
      if (component !== undefined && this.#inFlight.has(component)) continue;
      this.#sightings.delete(identity);
      if (component !== undefined) foreign.add(component);
    }
    if (foreign.size === 0) return;
    const now = this.#options.clock.monotonic();
    if (now - this.#rang > Math.max(calmMs, 2 * this.#restingMs)) this.#rest.reset();
    this.#restingMs = this.#rest.next();
    this.#rang = now;
    // One that is not applied again has another keeper now.
    for (const component of foreign) this.#expectations.forget(component);
    this.#ring([...foreign]);
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
    for (const heard of this.#heard.values()) silence(heard);
    this.#heard.clear();
    this.#line?.close();
    this.#line = undefined;
  }
}

function silence({ stop, timer }: Heard): void {
  timer?.cancel();
  stop?.();
}
