import type { Key } from '../../../api/meta.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Clock, Timer } from '../../../runtime/clock.ts';
import type { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../../runtime/cache/object-slot.ts';

/**
 * A start that takes longer no longer delays others: its pods may never become ready. A turn that was offered and is not taken for so long is
 * another one's. In milliseconds.
 */
const longestMs = { started: 30_000, offered: 3_000 } as const;

/** What a start queue needs. */
export interface StartQueueOptions {
  readonly clock: Clock;
  readonly memory: ObjectMemory;
  /** Enqueues a TenantControlPlane whose turn has come. */
  readonly enqueue?: ((key: Key) => void) | undefined;
}

/** Among those that may start at once, or beside them, for one that was called. */
type Place = 'among' | 'beside';

interface Turn {
  readonly key: Key;
  readonly since: number;
  readonly place: Place;
  readonly is: keyof typeof longestMs;
}

interface Wait {
  readonly key: Key;
  readonly isCalled: boolean;
}

/** Which turns are free, and how many among the others each namespace has. */
interface Room extends Readonly<Record<Place, boolean>> {
  readonly near: ReadonlyMap<string, number>;
}

/**
 * Lets only so many control planes start their pods at once: new ones, those that get other pods, and those that wake up. Pods that share a processor while
 * they start all become ready at the end; one after the other, each takes as long as it would alone. One namespace never has all turns, and where there is
 * only one, namespaces that wait have it in turn: control planes that do not start must not keep those of others waiting. Nor must they keep
 * somebody waiting who has called: one of those starts beside the others.
 */
export class StartQueue {
  readonly #clock: Clock;
  readonly #enqueue: (key: Key) => void;
  readonly #turns: ObjectSlot<Turn>;
  /** In the order in which they came. */
  readonly #waiting: ObjectSlot<Wait>;
  /** The namespaces that had the last turns. */
  readonly #last = new Map<Place, string | undefined>();
  #limit = Infinity;
  #timer: Timer | undefined;

  constructor({ clock, memory, enqueue = () => undefined }: StartQueueOptions) {
    this.#clock = clock;
    this.#enqueue = enqueue;
    this.#turns = memory.slot('control planes that start');
    this.#waiting = memory.slot('control planes that wait for their start');
  }

  /** How many others start now if that is why this one has to wait; undefined when it may start, which counts from now on. */
  take({ metadata }: TenantControlPlane, limit: number, isCalled = false): number | undefined {
    const { uid, namespace, name } = metadata;
    this.#limit = limit;
    this.#end();
    const wait = { key: { namespace, name }, isCalled: isCalled || this.#waiting.get(uid)?.isCalled === true };
    // Those that wait come first, and it may be one of them.
    if (this.#waiting.has(uid)) this.#waiting.set(uid, wait);
    this.#offer(uid);
    const turn = this.#turns.get(uid);
    const place = turn?.place ?? this.#placeFor(wait, this.#room());
    if (place === undefined) this.#waiting.set(uid, wait);
    else if (turn?.is !== 'started') this.#give(uid, wait, { place, is: 'started' });
    this.#arm();
    return place === undefined ? this.#turns.size : undefined;
  }

  /** The pods are ready, or given up: it is another one's turn. */
  ended(uid: string): void {
    if (!this.#turns.has(uid)) return;
    this.#turns.delete(uid);
    this.#goOn();
  }

  /** Ends what has taken too long, and has others follow. */
  #goOn(): void {
    this.#end();
    this.#offer();
    this.#arm();
  }

  #end(): void {
    const now = this.#clock.monotonic();
    for (const [uid, turn] of this.#turns.entries()) if (endOf(turn) <= now) this.#turns.delete(uid);
  }

  /** Offers free turns to those that wait: each requests its turn again, unless it does not want to start anymore. */
  #offer(asking?: string): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const { uid, wait, place } = next;
      this.#give(uid, wait, { place, is: 'offered' });
      if (uid !== asking) this.#enqueue(wait.key);
    }
  }

  #give(uid: string, { key }: Wait, { place, is }: Pick<Turn, 'place' | 'is'>): void {
    this.#waiting.delete(uid);
    this.#turns.set(uid, { key, place, is, since: this.#clock.monotonic() });
    this.#last.set(place, key.namespace);
  }

  /** Who is next; undefined if all have to wait. */
  #next(): { readonly uid: string; readonly wait: Wait; readonly place: Place } | undefined {
    const room = this.#room();
    if (!room.among && !room.beside) return undefined;
    const all = this.#waiting.entries().flatMap(([uid, wait]) => {
      const place = this.#placeFor(wait, room);
      return place === undefined ? [] : [{ uid, wait, place }];
    });
    // Of several turns, no namespace has all.
    const isInTurn = ({ wait, place }: { readonly wait: Wait; readonly place: Place }): boolean =>
      (place === 'among' && this.#limit > 1) || wait.key.namespace !== this.#last.get(place);
    return all.find(isInTurn) ?? all[0];
  }

  #placeFor({ key: { namespace = '' }, isCalled }: Wait, { among, beside, near }: Room): Place | undefined {
    if (among && (near.get(namespace) ?? 0) < Math.max(this.#limit - 1, 1)) return 'among';
    return isCalled && beside ? 'beside' : undefined;
  }

  #room(): Room {
    const near = new Map<string, number>();
    const turns = this.#turns.entries();
    const among = turns.filter(([, { place }]) => place === 'among');
    for (const [, { key }] of among) near.set(key.namespace ?? '', (near.get(key.namespace ?? '') ?? 0) + 1);
    return { near, among: among.length < this.#limit, beside: among.length === turns.length };
  }

  /** Goes on when the next turn ends, while somebody waits for it. */
  #arm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#waiting.size === 0) return;
    const ends = this.#turns.entries().map(([, turn]) => endOf(turn));
    if (ends.length === 0) return;
    this.#timer = this.#clock.after(Math.max(Math.min(...ends) - this.#clock.monotonic(), 1), () => {
      this.#goOn();
    });
  }
}

function endOf({ since, is }: Turn): number {
  return since + longestMs[is];
}
