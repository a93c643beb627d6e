import type { KindRef } from '../api/meta.ts';
import type { Clock, Timer } from '../runtime/clock.ts';
import type { Cluster } from '../runtime/cluster.ts';
import type { ObjectMemory } from '../runtime/object-memory.ts';
import type { ObjectSlot } from '../runtime/object-slot.ts';

/** What an alarm watches for. */
export interface AlarmSelection {
  readonly kind: KindRef;
  readonly fieldSelector: string;
  /** The version of the list that showed what there was: newer objects ring. */
  readonly resourceVersion: string;
}

interface Armed {
  readonly cluster: Cluster;
  readonly stop: AbortController;
  timer: Timer | undefined;
}

/** The time between arming and ringing at least: a tenant can make objects as fast as it likes. In milliseconds. */
const restMs = 2_000;

/** After a watch that was lost, in milliseconds. */
const lostMs = 30_000;

/**
 * Rings once when a tenant has a new object of a kind, at most every two seconds; then it must be armed again. A watch that costs a
 * connection while it is armed and remembers nothing: whoever hears it lists for himself. One that is lost rings, too.
 */
export class ChangeAlarm {
  readonly #clock: Clock;
  readonly #armed: ObjectSlot<Armed>;

  /** The alarm of a tenant that goes is silenced. */
  constructor(clock: Clock, memory: ObjectMemory) {
    this.#clock = clock;
    this.#armed = memory.slot('alarms in tenants', {
      dispose: ({ timer, stop }) => {
        timer?.cancel();
        stop.abort(new Error('nobody waits for changes any more'));
      },
    });
  }

  /** Arms the alarm of `uid`; one that is armed at the same door stays as it is. */
  arm(uid: string, cluster: Cluster, how: { readonly selection: AlarmSelection; ring(): void; ended?(): void }): void {
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
        how.ring();
      });
    });
    // Whoever cannot be alarmed has to look.
    heard.catch(() => {
      how.ring();
    });
  }

  /** Silences the alarm of a tenant. */
  disarm(uid: string): void {
    this.#armed.delete(uid);
  }

  /** True when there is a new object, false when that cannot be told. */
  async #waitFor({ cluster, stop }: Armed, selection: AlarmSelection): Promise<boolean> {
    const { kind, fieldSelector } = selection;
    let { resourceVersion } = selection;
    try {
      for (;;) {
        const options = { fieldSelector, resourceVersion, metadataOnly: true, signal: stop.signal };
        const before = resourceVersion;
        for await (const event of cluster.watch(kind, options)) {
          if (event.type === 'ADDED') return true;
          resourceVersion =
            'object' in event ? (event.object.metadata.resourceVersion ?? before) : event.resourceVersion;
        }
        // A server that ends every watch at once must not keep us busy.
        if (resourceVersion === before) return false;
      }
    } catch {
      return false;
    }
  }
}
