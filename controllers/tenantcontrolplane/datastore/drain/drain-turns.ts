import { isDeepStrictEqual } from 'node:util';
import type { Key } from '../../../../api/meta.ts';
import { annotations } from '../../../../api/names.ts';
import { dataStoreName } from '../../../../api/steward/v1alpha1/data-stores-of.ts';
import { isUnderWay } from '../../../../api/steward/v1alpha1/share-in-use.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { ObjectMemory } from '../../../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../../../runtime/cache/object-slot.ts';
import type { Clock } from '../../../../runtime/clock.ts';
import { timeLimits } from '../migration/migration-step.ts';
import { drainRecord, isChosen } from './drain-record.ts';

/** A turn that the cache does not show after this many milliseconds was not used. */
const unshownMs = 60_000;

/** What is needed to migrate tenants one after the other. */
export interface DrainTurnsOptions {
  readonly clock: Clock;
  readonly memory: ObjectMemory;
  /** The cached TenantControlPlanes. */
  readonly tenants: () => readonly TenantControlPlane[];
  /** DataStore of tenants that neither name nor select one; empty for none. */
  readonly defaultDataStore: string;
  /** Enqueues a TenantControlPlane whose turn has come. */
  readonly enqueue?: ((key: Key) => void) | undefined;
  /** True when other managers let tenants leave, too: nobody enqueues those that wait here when one of theirs has left. */
  readonly isShared?: boolean | undefined;
}

/** Until a tenant requests its turn again if nothing enqueues it, in milliseconds. */
const recheckMs = { alone: 300_000, shared: 15_000 } as const;

interface Turn {
  readonly store: string;
  readonly since: number;
}

interface Wait {
  readonly store: string;
  readonly key: Key;
}

/** The answer to a tenant that is to leave a DataStore. */
export type DrainTurn = 'go' | 'wait' | 'stay';

/**
 * Lets one tenant at a time leave a DataStore that is drained. Which one leaves is in the status of the tenants, so another process
 * continues where this one ended; memory only covers the moments until the cache shows it, and remembers which tenants wait.
 */
export class DrainTurns {
  readonly #options: DrainTurnsOptions;
  readonly #going: ObjectSlot<Turn>;
  readonly #waiting: ObjectSlot<Wait>;

  constructor(options: DrainTurnsOptions) {
    this.#options = options;
    this.#going = options.memory.slot('tenants that leave a DataStore');
    this.#waiting = options.memory.slot('tenants that wait to leave a DataStore');
  }

  /** Until a tenant that waits requests its turn again if nothing enqueues it, in milliseconds. */
  get recheckMs(): number {
    return this.#options.isShared === true ? recheckMs.shared : recheckMs.alone;
  }

  /** Whether the tenant may leave now; so many tenants are to stay. */
  take(tcp: TenantControlPlane, store: string, keep: number): DrainTurn {
    const { uid, namespace, name } = tcp.metadata;
    const known = this.#going.get(uid);
    if (known !== undefined && known.store !== store) this.ended(uid);
    const others = this.#options.tenants().filter(({ metadata }) => metadata.uid !== uid);
    const leaving = others.filter((other) => this.#isLeaving(other, store));
    const staying = others.filter(
      (other) => dataStoreName(other, this.#options.defaultDataStore) === store && !leaving.includes(other),
    );
    const isBusy = leaving.length > 0 || this.#isTaken(uid, store);
    if (staying.length < keep && !isBusy) {
      this.ended(uid);
      return 'stay';
    }
    if (isBusy) {
      const wait = { store, key: { namespace, name } };
      if (!isDeepStrictEqual(this.#waiting.get(uid), wait)) this.#waiting.set(uid, wait);
      return 'wait';
    }
    this.#waiting.delete(uid);
    this.#going.getOrMake(uid, () => ({ store, since: this.#options.clock.monotonic() }));
    return 'go';
  }

  /** The tenant leaves already, as its status says. */
  goesOn({ metadata: { uid } }: TenantControlPlane, store: string): void {
    this.#going.getOrMake(uid, () => ({ store, since: this.#options.clock.monotonic() }));
  }

  /** The tenant has left, or does not leave for now: it is another one's turn. */
  ended(uid: string): void {
    const store = (this.#going.get(uid) ?? this.#waiting.get(uid))?.store;
    this.#going.delete(uid);
    this.#waiting.delete(uid);
    if (store === undefined) return;
    // It stays in the list until it has left, or has reported that it stays.
    const next = this.#waiting.entries().find(([, wait]) => wait.store === store);
    if (next !== undefined) this.#options.enqueue?.(next[1].key);
  }

  #isTaken(uid: string, store: string): boolean {
    const now = this.#options.clock.monotonic();
    return this.#going
      .entries()
      .some(([other, turn]) => other !== uid && turn.store === store && now - turn.since < unshownMs);
  }

  /** True while the tenant leaves, or is about to, according to its status. One that is stuck does not block others forever. */
  #isLeaving(tcp: TenantControlPlane, store: string): boolean {
    const record = drainRecord(tcp);
    if (!isChosen(record, store) || record.time === undefined) return false;
    const { annotations: carried, deletionTimestamp } = tcp.metadata;
    if (carried?.[annotations.paused] !== undefined || deletionTimestamp !== undefined) return false;
    const ageMs = this.#options.clock.now().getTime() - Date.parse(record.time);
    const isHere = dataStoreName(tcp, this.#options.defaultDataStore) === store;
    return ageMs < timeLimits.wholeMs && (isHere || isUnderWay(tcp.status?.storage?.migration));
  }
}
