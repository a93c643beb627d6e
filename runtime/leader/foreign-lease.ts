import { kinds, type Lease } from '../../api/core/kinds.ts';
import type { Clock, Timer } from '../clock.ts';
import type { Informer } from '../cache/informer.ts';
import type { InformerFactory } from '../cache/informer-factory.ts';
import { keyOf, textOf } from '../cache/object-id.ts';

export interface ForeignLeaseOptions {
  /** Of all namespaces. */
  readonly informers: Pick<InformerFactory, 'informer'>;
  readonly clock: Clock;
  /** Name of the Lease; its namespace is that of the other program, which is unknown. */
  readonly name: string;
  /** Called when it gets a holder, or loses it. */
  changed(): void;
}

/** A Lease counts as held so long after its last renewal: many times what leaders take between two, and clocks may differ. */
const freshMs = 60_000;

/**
 * Whether another program leads, according to the Lease of its leader election. A Lease that a terminated program left behind has no
 * holder: only a recent renewal counts, by its own time or by the time at which it was seen, whichever is earlier. One with a time in the
 * future only counts once it changes.
 */
export class ForeignLease {
  readonly #options: ForeignLeaseOptions;
  readonly #informer: Informer<Lease>;
  readonly #unsubscribe: () => void;
  /** Until when each Lease counts as held: milliseconds since the epoch. */
  readonly #until = new Map<string, { readonly ms: number; readonly holder: string }>();
  #timer: Timer | undefined;
  #holder: string | undefined;

  constructor(options: ForeignLeaseOptions) {
    this.#options = options;
    this.#informer = options.informers.informer({ kind: kinds.Lease, fieldSelector: `metadata.name=${options.name}` });
    this.#unsubscribe = this.#informer.subscribe((old, now) => {
      this.#see(old, now);
    });
  }

  /** Who holds it, `<identity> (Lease <namespace>/<name>)`; undefined when it is free. Not to be relied upon before `synced`. */
  get holder(): string | undefined {
    return this.#holder;
  }

  /** Resolves when it is known who holds it. */
  get synced(): Promise<void> {
    return this.#informer.synced;
  }

  /** Why it is not known yet who holds it, as text for people; undefined when it is. */
  waitsFor(): string | undefined {
    const { synced, failure } = this.#informer.health();
    return synced ? undefined : `leases.coordination.k8s.io${failure === undefined ? '' : `: ${failure}`}`;
  }

  close(): void {
    this.#unsubscribe();
    this.#timer?.cancel();
  }

  #see(old: Lease | undefined, now: Lease | undefined): void {
    const lease = now ?? old;
    if (lease === undefined) return;
    const key = textOf(keyOf(lease));
    const holder = now?.spec?.holderIdentity ?? '';
    if (holder === '') this.#until.delete(key);
    else {
      const renewed = Date.parse(String(now?.spec?.renewTime ?? '')) || 0;
      const isRenewal = old !== undefined && String(old.spec?.renewTime) !== String(now?.spec?.renewTime);
      const at = this.#options.clock.now().getTime();
      const seen = isRenewal ? at : 0;
      const renewedMs = renewed - at > freshMs ? 0 : Math.min(renewed, at);
      this.#until.set(key, { ms: Math.max(renewedMs, seen) + freshMs, holder: `${holder} (Lease ${key})` });
    }
    this.#evaluate();
  }

  #evaluate(): void {
    const { clock } = this.#options;
    const now = clock.now().getTime();
    const held = [...this.#until.values()].filter(({ ms }) => ms > now);
    this.#timer?.cancel();
    const next = Math.min(...held.map(({ ms }) => ms));
    this.#timer =
      held.length === 0
        ? undefined
        : clock.after(next - now, () => {
            this.#evaluate();
          });
    const before = this.#holder;
    this.#holder = held[0]?.holder;
    if ((before === undefined) !== (this.#holder === undefined)) this.#options.changed();
  }
}
