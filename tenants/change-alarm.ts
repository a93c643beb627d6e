import type { KindRef } from '../api/meta.ts';
import type { Clock, Timer } from '../runtime/clock.ts';
import type { Cluster } from '../runtime/client/cluster.ts';
import type { ObjectMemory } from '../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../runtime/cache/object-slot.ts';

/** What a change alarm watches. */
export interface AlarmSelection {
  readonly kind: KindRef;
  readonly fieldSelector: string;
  /** The resource version of the list that showed the existing objects: newer objects notify. */
  readonly resourceVersion: string;
}

interface Armed {
  readonly cluster: Cluster;
  readonly stop: AbortController;
  timer: Timer | undefined;
}

/** The minimum time between arming and notifying, in milliseconds: a tenant can create objects as fast as it likes. */
const restMs = 2_000;

/** Until an alarm notifies after its watch was lost, in milliseconds. */
const lostMs = 30_000;

/**
 * Notifies once when a tenant has a new object of a kind, at most every two seconds; then it must be armed again. It is a watch
 * that uses a connection while it is armed and stores nothing: the receiver has to list. A lost watch notifies, too.
 */
export class ChangeAlarm {
  readonly #clock: Clock;
  readonly #armed: ObjectSlot<Armed>;

  /** The alarm of a deleted tenant is disarmed. */
  constructor(clock: Clock, memory: ObjectMemory) {
    this.#clock = clock;
    this.#armed = memory.slot('alarms in tenants', {
      dispose: ({ timer, stop }) => {
        timer?.cancel();
        stop.abort(new Error('no longer waiting for changes'));
      },
    });
  }

  /** Arms the alarm of `uid`; if it is already armed with the same client, nothing changes. */
  arm(
    uid: string,
    cluster: Cluster,
    how: { readonly selection: AlarmSelection; notify(): void; ended?(): void },
  ): void {
    if (this.#armed.get(uid)?.cluster === cluster) {
      how.ended?.();
      return;
    }
    const armed: Armed = { cluster, stop: new AbortController(), timer: undefined };
    this.#armed.set(uid, armed);
    const since = this.#clock.monotonic();
    const heard = this.#waitFor(armed, how.selection).then((found) => {
      how.ended?.();
      if (armed.stop.signal.aborted) return;
      const delay = found ? Math.max(restMs - (this.#clock.monotonic() - since), 0) : lostMs;
      armed.timer = this.#clock.after(delay, () => {
        this.disarm(uid);
        how.notify();
      });
    });
    // If the alarm fails, the caller has to list.
    heard.catch(() => {
      how.notify();
    });
  }

  /** Disarms the alarm of a tenant. */
  disarm(uid: string): void {
    this.#armed.delete(uid);
  }

  /** True when there is a new object, false when that is not known. */
  async #waitFor({ cluster, stop }: Armed, selection: AlarmSelection): Promise<boolean> {
    const { kind, fieldSelector } = selection;
    let { resourceVersion } = selection;
    try {
      for (;;) {
        const options = { fieldSelector, resourceVersion, metadataOnly: true, signal: stop.signal };
        const before = resourceVersion;
        for await (const event of cluster.watch(kind, options)) {
          if (event.type === 'ADDED') return true;
          resourceVersion = 'object' in event ? event.object.metadata.resourceVersion : event.resourceVersion;
        }
        // A server that ends every watch at once must not cause a busy loop.
        if (resourceVersion === before) return false;
      }
    } catch {
      return false;
    }
  }
}
