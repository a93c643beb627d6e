import type { Clock, Timer } from '../runtime/clock.ts';
import { detached } from '../runtime/detached.ts';
import type { ObjectMemory } from '../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../runtime/cache/object-slot.ts';
import type { Logger } from '../runtime/observe/logger.ts';
import { messageOf } from '../runtime/reconcile/conditions.ts';
import type { TenancySize } from './driver.ts';

/** A tenant with data, and how all of it is measured, wherever it is. */
export interface MeteredTenant<Size = TenancySize> {
  readonly uid: string;
  /** The size of all of its tenancies together; undefined when it is not known. May fail. */
  readonly measure: (signal: AbortSignal) => Promise<Size | undefined>;
  /** Between two measurements, in milliseconds, given the last one; the interval of the meter by default. */
  readonly intervalMs?: (last: Measurement<Size>) => number;
  /** Called after every attempt. */
  readonly measured?: (last: Measurement<Size>) => void;
}

/** What is known from measurements of a tenant. */
export interface Measurement<Size = TenancySize> {
  /** The last size that was found. */
  readonly found?: { readonly size: Size; readonly time: Date; readonly tookMs: number };
  /** Why the last attempt found none. */
  readonly failure?: string;
}

/** How tenants are measured. */
export interface TenancyMeterOptions<Size = TenancySize> {
  readonly clock: Clock;
  readonly log: Logger;
  /** The size of a deleted tenant is forgotten. */
  readonly memory: ObjectMemory;
  /** Names what is remembered, where there are several meters. */
  readonly name?: string;
  /** Between two measurements of a tenant, in milliseconds. */
  readonly intervalMs: number;
  /** The interval at which due tenants are listed, in milliseconds: a new one has a size soon. */
  readonly lookMs?: number;
  /** So many tenants are measured at once: a measurement may read all data of a tenant. Two by default. */
  readonly mostAtOnce?: number;
  /** A measurement that takes longer is ended after its current read, in milliseconds; five minutes by default. */
  readonly longestMs?: number;
  /** The tenants that have data now. */
  readonly tenants: () => readonly MeteredTenant<Size>[];
}

interface Metered<Size> {
  /** When it was tried last; undefined before. */
  triedAt: number | undefined;
  isRunning: boolean;
  last: Measurement<Size>;
  /** When the last size was found. */
  at: number;
}

const defaultLookMs = 30_000;

/** Some gigabytes take as long, in milliseconds. */
const defaultLongestMs = 300_000;

/** A size is reported until so many intervals have passed without a new one. */
const staleAfter = 3;

/** Measures at intervals how much each tenant stores, a few tenants at a time. */
export class TenancyMeter<Size = TenancySize> {
  readonly #options: TenancyMeterOptions<Size>;
  readonly #known: ObjectSlot<Metered<Size>>;
  readonly #ended = new AbortController();
  /** Those who were due at the last look and wait for their turn. */
  #due: { readonly tenant: MeteredTenant<Size>; readonly metered: Metered<Size> }[] = [];
  #running = 0;
  #timer: Timer | undefined;

  constructor(options: TenancyMeterOptions<Size>) {
    this.#options = options;
    this.#known = options.memory.slot(options.name ?? 'sizes of tenants');
  }

  /** Measures from now on. */
  start(): void {
    detached(this.#look(), this.#options.log, 'measuring the data of tenants');
  }

  /** The last size of the tenant `uid`; undefined when it is not known, or no longer. */
  size(uid: string): Size | undefined {
    const { clock, intervalMs } = this.#options;
    const metered = this.#known.get(uid);
    if (metered === undefined || clock.monotonic() - metered.at > staleAfter * intervalMs) return undefined;
    return metered.last.found?.size;
  }

  /** What is known of the tenant `uid`, however old it is; undefined before its first measurement has ended. */
  last(uid: string): Measurement<Size> | undefined {
    const last = this.#known.get(uid)?.last;
    return last?.found === undefined && last?.failure === undefined ? undefined : last;
  }

  /** Ends all measurements. */
  close(): void {
    this.#ended.abort(new Error('tenants are no longer measured'));
    this.#timer?.cancel();
  }

  /** Measures the tenants that are due, and schedules the next check; measurements that take longer do not delay it. */
  async #look(): Promise<void> {
    const { clock, intervalMs, lookMs = defaultLookMs } = this.#options;
    try {
      this.#measureDue();
    } finally {
      if (!this.#ended.signal.aborted)
        this.#timer = clock.after(Math.min(lookMs, intervalMs), () => {
          this.start();
        });
    }
    return Promise.resolve();
  }

  /** Finds who is due, those first that have waited longest. */
  #measureDue(): void {
    const { clock, tenants } = this.#options;
    if (this.#ended.signal.aborted) return;
    const now = clock.monotonic();
    this.#due = tenants()
      .map((tenant) => ({ tenant, metered: this.#of(tenant) }))
      .filter(({ tenant, metered }) => this.#isDue(tenant, metered, now))
      .sort((a, b) => since(a.metered) - since(b.metered));
    this.#measureNext();
  }

  #measureNext(): void {
    const { clock, log, mostAtOnce = 2 } = this.#options;
    while (!this.#ended.signal.aborted && this.#running < mostAtOnce) {
      const next = this.#due.shift();
      if (next === undefined) return;
      const { tenant, metered } = next;
      if (!this.#isDue(tenant, metered, clock.monotonic())) continue;
      detached(this.#measure(tenant, metered), log, 'measuring the data of a tenant');
    }
  }

  #of({ uid }: MeteredTenant<Size>): Metered<Size> {
    return this.#known.getOrMake(uid, () => ({ triedAt: undefined, isRunning: false, last: {}, at: 0 }));
  }

  #isDue({ intervalMs }: MeteredTenant<Size>, { isRunning, triedAt, last }: Metered<Size>, now: number): boolean {
    if (isRunning) return false;
    return triedAt === undefined || now - triedAt >= (intervalMs?.(last) ?? this.#options.intervalMs);
  }

  async #measure(tenant: MeteredTenant<Size>, metered: Metered<Size>): Promise<void> {
    const { clock, log, longestMs = defaultLongestMs } = this.#options;
    const started = clock.monotonic();
    this.#running += 1;
    metered.isRunning = true;
    metered.triedAt = started;
    const ends = new AbortController();
    const timer = clock.after(longestMs, () => {
      ends.abort(new Error(`it took more than ${longestMs / 1000} seconds`));
    });
    try {
      const size = await tenant.measure(AbortSignal.any([ends.signal, this.#ended.signal]));
      metered.at = clock.monotonic();
      const tookMs = metered.at - started;
      metered.last =
        size === undefined
          ? { failure: 'there is no data to measure' }
          : { found: { size, time: clock.now(), tookMs } };
    } catch (error) {
      // That a datastore does not answer is a condition of the DataStore.
      log.debug('the data of a tenant could not be measured', { uid: tenant.uid, error });
      metered.last = { ...metered.last, failure: messageOf(error) };
    } finally {
      timer.cancel();
      metered.isRunning = false;
      this.#running -= 1;
    }
    if (this.#ended.signal.aborted) return;
    tenant.measured?.(metered.last);
    this.#measureNext();
  }
}

function since({ triedAt }: Pick<Metered<unknown>, 'triedAt'>): number {
  return triedAt ?? Number.NEGATIVE_INFINITY;
}
