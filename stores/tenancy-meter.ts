import type { Clock, Timer } from '../runtime/clock.ts';
import { detached } from '../runtime/detached.ts';
import type { ObjectMemory } from '../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../runtime/cache/object-slot.ts';
import type { Logger } from '../runtime/observe/logger.ts';
import type { TenancySize } from './driver.ts';

/** A tenant with data, and how all of it is measured, wherever it is. */
export interface MeteredTenant {
  readonly uid: string;
  /** The size of all of its tenancies together; undefined when it is not known. May fail. */
  readonly measure: (signal: AbortSignal) => Promise<TenancySize | undefined>;
}

/** How tenants are measured. */
export interface TenancyMeterOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** The size of a deleted tenant is forgotten. */
  readonly memory: ObjectMemory;
  /** Between two measurements of a tenant, in milliseconds. */
  readonly intervalMs: number;
  /** The tenants that have data now. */
  readonly tenants: () => readonly MeteredTenant[];
}

interface Metered {
  /** When it was tried last. */
  triedAt: number;
  measured?: { readonly size: TenancySize; readonly at: number };
}

/** So many tenants are measured at once: a measurement may read all data of a tenant. */
const mostAtOnce = 2;

/** The interval at which due tenants are listed, in milliseconds: a new one has a size soon. */
const lookMs = 30_000;

/** A measurement that takes longer is ended after its current read; some gigabytes take as long. In milliseconds. */
const longestMs = 300_000;

/** A size is reported until so many intervals have passed without a new one. */
const staleAfter = 3;

/** Measures at intervals how much each tenant stores, a few tenants at a time. */
export class TenancyMeter {
  readonly #options: TenancyMeterOptions;
  readonly #sizes: ObjectSlot<Metered>;
  readonly #ended = new AbortController();
  #timer: Timer | undefined;

  constructor(options: TenancyMeterOptions) {
    this.#options = options;
    this.#sizes = options.memory.slot('sizes of tenants');
  }

  /** Measures from now on. */
  start(): void {
    detached(this.#round(), this.#options.log, 'measuring the data of tenants');
  }

  /** The last size of the tenant `uid`; undefined when it is not known, or no longer. */
  size(uid: string): TenancySize | undefined {
    const { clock, intervalMs } = this.#options;
    const measured = this.#sizes.get(uid)?.measured;
    if (measured === undefined || clock.monotonic() - measured.at > staleAfter * intervalMs) return undefined;
    return measured.size;
  }

  /** Ends all measurements. */
  close(): void {
    this.#ended.abort(new Error('tenants are no longer measured'));
    this.#timer?.cancel();
  }

  /** Measures the tenants that are due, and schedules the next check. */
  async #round(): Promise<void> {
    const { clock, intervalMs } = this.#options;
    try {
      await this.#measureDue();
    } finally {
      if (!this.#ended.signal.aborted)
        this.#timer = clock.after(Math.min(lookMs, intervalMs), () => {
          this.start();
        });
    }
  }

  /** Those first that have waited longest. */
  async #measureDue(): Promise<void> {
    const { clock, intervalMs, tenants } = this.#options;
    const now = clock.monotonic();
    const triedAt = ({ uid }: MeteredTenant): number => this.#sizes.get(uid)?.triedAt ?? Number.NEGATIVE_INFINITY;
    const due = tenants()
      .filter((tenant) => now - triedAt(tenant) >= intervalMs)
      .sort((a, b) => triedAt(a) - triedAt(b))
      .values();
    const work = async (): Promise<void> => {
      for (const tenant of due) {
        if (this.#ended.signal.aborted) return;
        await this.#measure(tenant);
      }
    };
    await Promise.all(Array.from({ length: mostAtOnce }, work));
  }

  async #measure({ uid, measure }: MeteredTenant): Promise<void> {
    const { clock, log } = this.#options;
    const metered = this.#sizes.getOrMake(uid, () => ({ triedAt: 0 }));
    metered.triedAt = clock.monotonic();
    const ends = new AbortController();
    const timer = clock.after(longestMs, () => {
      ends.abort(new Error(`it took more than ${longestMs / 1000} seconds`));
    });
    try {
      const size = await measure(AbortSignal.any([ends.signal, this.#ended.signal]));
      if (size === undefined) delete metered.measured;
      else metered.measured = { size, at: clock.monotonic() };
    } catch (error) {
      // That a datastore does not answer is a condition of the DataStore.
      log.debug('the data of a tenant could not be measured', { uid, error });
    } finally {
      timer.cancel();
    }
  }
}
