import { awaitedRestore, restoreMarkOf } from '../../api/steward/v1alpha1/backup/restore-mark.ts';
import { isUnderWay } from '../../api/steward/v1alpha1/share-in-use.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { WritesMeasurement } from '../../controllers/tenantcontrolplane/quota/data-measurement.ts';
import { countInterval } from '../../controllers/tenantcontrolplane/quota/measure-interval.ts';
import { keepMs } from '../../controllers/tenantcontrolplane/quota/quota-part.ts';
import {
  afterCount,
  firstBucket,
  perSecond,
  refilledInMs,
} from '../../controllers/tenantcontrolplane/quota/writes-bucket.ts';
import type { WritesBucket } from '../../controllers/tenantcontrolplane/quota/writes-bucket.ts';
import { isRecordedEmpty } from '../../controllers/tenantcontrolplane/quota/writes-part.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ObjectSlot } from '../../runtime/cache/object-slot.ts';
import { TenancyMeter } from '../../stores/tenancy-meter.ts';
import type { Measurement, MeteredTenant, TenancyMeterOptions } from '../../stores/tenancy-meter.ts';
import { dataWrites } from './metered-tenants.ts';
import type { CountedWrites, MeteredFacts } from './metered-tenants.ts';

/** What the meter of writes needs. */
export interface WritesMeterOptions extends Omit<TenancyMeterOptions, 'name' | 'tenants' | 'longestMs'> {
  readonly facts: () => MeteredFacts;
  /** Called after every attempt. */
  readonly counted: (tcp: TenantControlPlane) => void;
}

/** A count reads next to nothing: one that takes longer must not keep others waiting. Milliseconds. */
const longestMs = 30_000;

/** Counts the writes of tenants whose quota limits them, and knows what they may still write. */
export class WritesMeter {
  readonly #clock: Clock;
  readonly #meter: TenancyMeter<CountedWrites>;
  readonly #buckets: ObjectSlot<WritesBucket>;

  constructor({ facts, counted, ...options }: WritesMeterOptions) {
    const { clock, memory, intervalMs: againMs } = options;
    this.#clock = clock;
    this.#buckets = memory.slot('writes that are left');
    const tenants = (): readonly MeteredTenant<CountedWrites>[] => {
      const { tenants: all, ...others } = facts();
      return all.flatMap((tcp) => {
        const limit = tcp.spec.quota?.writesPerSecond;
        if (limit === undefined) return [];
        const { uid } = tcp.metadata;
        return [
          {
            uid,
            measure: async (signal: AbortSignal) => {
              const found = await dataWrites(tcp, others, signal);
              if (found !== undefined) this.#take(tcp, limit, found);
              return found;
            },
            intervalMs: ({ found, failure }: Measurement<CountedWrites>) =>
              found === undefined || failure !== undefined
                ? againMs
                : countInterval(this.#buckets.get(uid), found.tookMs),
            measured: () => {
              counted(tcp);
            },
          },
        ];
      });
    };
    this.#meter = new TenancyMeter({ ...options, longestMs, name: 'writes under a quota', tenants });
  }

  /** What is known of the tenant `uid`; undefined before its writes were counted, or could not be. */
  measurementOf(uid: string): WritesMeasurement | undefined {
    const last = this.#meter.last(uid);
    if (last === undefined) return undefined;
    const { found, failure } = last;
    const bucket = this.#buckets.get(uid);
    if (found === undefined || bucket === undefined) return failure === undefined ? undefined : { failure };
    const rate = perSecond(bucket);
    const { limit, isEmpty, isOverdrawn } = bucket;
    const refilled = new Date(found.time.getTime() + refilledInMs(bucket));
    return {
      found: {
        ...{ limit, isEmpty, isOverdrawn, refilled, time: found.time },
        ...(rate !== undefined && { perSecond: rate }),
      },
      ...(failure !== undefined && { failure }),
    };
  }

  /** How often the tenant `uid` was written to; undefined if that was not counted lately. */
  writesOf(uid: string): number | undefined {
    const found = this.#meter.last(uid)?.found;
    if (found === undefined || this.#clock.now().getTime() - found.time.getTime() >= keepMs) return undefined;
    return found.size.writes;
  }

  start(): void {
    this.#meter.start();
  }

  close(): void {
    this.#meter.close();
  }

  #take(tcp: TenantControlPlane, limit: number, { writes, source }: CountedWrites): void {
    const { uid } = tcp.metadata;
    // What a migration or a restore writes is not the tenant's.
    const isTenants = !isUnderWay(tcp.status?.storage?.migration) && awaitedRestore(tcp) === undefined;
    const { task = '', upTo = '' } = restoreMarkOf(tcp) ?? {};
    const since = `${source} ${upTo} ${task}`;
    const count = { writes, source: isTenants ? since : undefined, atMs: this.#clock.monotonic() };
    const before = this.#buckets.get(uid);
    const isContinued = before?.limit === limit && count.atMs - before.last.atMs < keepMs;
    const isBlocked = isRecordedEmpty(tcp.status?.quota, limit, this.#clock.now());
    this.#buckets.set(uid, isContinued ? afterCount(before, count) : firstBucket(limit, count, isBlocked));
  }
}
