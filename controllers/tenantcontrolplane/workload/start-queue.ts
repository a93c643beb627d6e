import type { Key } from '../../../api/meta.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../../runtime/cache/object-slot.ts';

/** A start that takes longer than this many milliseconds no longer delays others: its pods may never become ready. */
const longestMs = 30_000;

/** What a start queue needs. */
export interface StartQueueOptions {
  readonly clock: Clock;
  readonly memory: ObjectMemory;
  /** Enqueues a TenantControlPlane whose turn has come. */
  readonly enqueue?: ((key: Key) => void) | undefined;
}

interface Start {
  readonly key: Key;
  readonly since: number;
}

/**
 * Lets only so many control planes start their pods at once: new ones, those that get other pods, and those that wake up. Pods that share a processor while
 * they start all become ready at the end; one after the other, each takes as long as it would alone. One namespace never has all turns:
 * control planes that do not start must not keep those of others waiting.
 */
export class StartQueue {
  readonly #clock: Clock;
  readonly #enqueue: (key: Key) => void;
  readonly #starting: ObjectSlot<Start>;
  readonly #waiting: ObjectSlot<Key>;
  #limit = Infinity;

  constructor({ clock, memory, enqueue = () => undefined }: StartQueueOptions) {
    this.#clock = clock;
    this.#enqueue = enqueue;
    this.#starting = memory.slot('control planes that start');
    this.#waiting = memory.slot('control planes that wait for their start');
  }

  /** How many others start now if that is why this one has to wait; undefined when it may start, which counts from now on. */
  take({ metadata: { uid, namespace, name } }: TenantControlPlane, limit: number): number | undefined {
    this.#limit = limit;
    const key = { namespace, name };
    if (!this.#starting.has(uid) && !this.#isFree(namespace)) {
      this.#waiting.getOrMake(uid, () => key);
      return this.#starting.size;
    }
    this.#waiting.delete(uid);
    this.#starting.getOrMake(uid, () => ({ key, since: this.#clock.monotonic() }));
    return undefined;
  }

  /** The pods are ready, or given up: it is another one's turn. */
  ended(uid: string): void {
    if (!this.#starting.has(uid)) return;
    this.#starting.delete(uid);
    const next = this.#waiting.entries().find(([, { namespace = '' }]) => this.#isFree(namespace));
    if (next === undefined) return;
    // It requests its turn again, unless it does not want to start anymore.
    this.#waiting.delete(next[0]);
    this.#enqueue(next[1]);
  }

  #isFree(namespace: string): boolean {
    const now = this.#clock.monotonic();
    for (const [uid, { since }] of this.#starting.entries()) if (now - since >= longestMs) this.#starting.delete(uid);
    const near = this.#starting.entries().filter(([, { key }]) => key.namespace === namespace);
    return this.#starting.size < this.#limit && near.length < Math.max(this.#limit - 1, 1);
  }
}
