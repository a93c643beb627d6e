import { hasData } from '../../api/steward/v1alpha1/data-owner.ts';
import type { Key } from '../../api/meta.ts';
import { isAsleep } from '../../api/steward/v1alpha1/sleep/is-asleep.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { DataMeasurement } from '../../controllers/tenantcontrolplane/quota/data-measurement.ts';
import { isNews } from '../../controllers/tenantcontrolplane/quota/is-news.ts';
import { measureInterval } from '../../controllers/tenantcontrolplane/quota/measure-interval.ts';
import type { Quota } from '../../controllers/tenantcontrolplane/quota/quota-part.ts';
import { TenancyMeter } from '../../stores/tenancy-meter.ts';
import type { Measurement, MeteredTenant, TenancyMeterOptions } from '../../stores/tenancy-meter.ts';
import { dataSize } from './metered-tenants.ts';
import type { MeteredFacts } from './metered-tenants.ts';
import { WritesMeter } from './writes-meter.ts';

/** What the meter of tenants with a quota needs. */
export interface QuotaMeterOptions extends Pick<TenancyMeterOptions, 'clock' | 'log' | 'memory'> {
  readonly facts: () => MeteredFacts;
  /** Has a TenantControlPlane reconciled. */
  readonly enqueue: (key: Key) => void;
}

/** More at once than for metrics, so that one with much data does not keep others waiting for long. */
const mostAtOnce = 4;

/** How soon a tenant is measured that is due. */
const lookMs = 1_000;

/** Until a failed measurement is tried again. */
const againMs = 10_000;

/**
 * Measures tenants with a quota often enough, and has those reconciled for which something follows. What they store may take long to
 * read, so their writes are counted apart from it.
 */
export class QuotaMeter {
  readonly #sizes: TenancyMeter;
  readonly #writes: WritesMeter;

  constructor({ facts, enqueue, ...options }: QuotaMeterOptions) {
    const measured = (tcp: TenantControlPlane): void => {
      const { namespace, name, uid } = tcp.metadata;
      if (isNews(tcp, this.measurementOf(uid), options.clock.now())) enqueue({ namespace, name });
    };
    const limited = (): MeteredFacts => {
      const { tenants, ...others } = facts();
      return { ...others, tenants: tenants.filter(isMeasured) };
    };
    const tenants = (): readonly MeteredTenant[] => {
      const { tenants: all, ...others } = limited();
      return all.flatMap((tcp) => {
        const { quota } = tcp.spec;
        if (quota?.dataSize === undefined && quota?.objects === undefined) return [];
        return [
          {
            uid: tcp.metadata.uid,
            measure: (signal: AbortSignal) => dataSize(tcp, others, signal),
            intervalMs: (last: Measurement) => intervalOf(quota, last),
            measured: () => {
              measured(tcp);
            },
          },
        ];
      });
    };
    const pace = { intervalMs: againMs, lookMs, mostAtOnce };
    this.#sizes = new TenancyMeter({ ...options, ...pace, name: 'data under a quota', tenants });
    this.#writes = new WritesMeter({ ...options, ...pace, facts: limited, counted: measured });
  }

  /** What is known of the tenant `uid`. */
  measurementOf(uid: string): DataMeasurement {
    const { found, failure } = this.#sizes.last(uid) ?? {};
    const writes = this.#writes.measurementOf(uid);
    return {
      ...(found !== undefined && {
        found: { bytes: found.size.content.bytes, keys: found.size.content.keys, time: found.time },
      }),
      ...(failure !== undefined && { failure }),
      ...(writes !== undefined && { writes }),
    };
  }

  /** How often the tenant `uid` was written to; undefined unless its quota limits that, and it was counted lately. */
  writesOf(uid: string): number | undefined {
    return this.#writes.writesOf(uid);
  }

  start(): void {
    this.#sizes.start();
    this.#writes.start();
  }

  close(): void {
    this.#sizes.close();
    this.#writes.close();
  }
}

/** What sleeps does not grow, and one that is being deleted may not be kept from it. */
function isMeasured(tcp: TenantControlPlane): boolean {
  return tcp.spec.quota !== undefined && hasData(tcp) && !isAsleep(tcp) && tcp.metadata.deletionTimestamp === undefined;
}

function intervalOf(quota: Quota, { found, failure }: Measurement): number {
  if (failure !== undefined || found === undefined) return againMs;
  const { bytes, keys } = found.size.content;
  return measureInterval(quota, { bytes, keys, tookMs: found.tookMs });
}
