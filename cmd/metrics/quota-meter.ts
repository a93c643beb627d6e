import { hasData } from '../../api/steward/v1alpha1/data-owner.ts';
import type { Key } from '../../api/meta.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { isNews } from '../../controllers/tenantcontrolplane/quota/is-news.ts';
import { measureInterval } from '../../controllers/tenantcontrolplane/quota/measure-interval.ts';
import type { DataMeasurement, Quota } from '../../controllers/tenantcontrolplane/quota/quota-decision.ts';
import { TenancyMeter } from '../../stores/tenancy-meter.ts';
import type { Measurement, MeteredTenant, TenancyMeterOptions } from '../../stores/tenancy-meter.ts';
import { dataSize } from './metered-tenants.ts';
import type { MeteredFacts } from './metered-tenants.ts';

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

/** Measures tenants with a quota often enough, and has those reconciled for which something follows. */
export class QuotaMeter {
  readonly #meter: TenancyMeter;

  constructor({ facts, enqueue, ...options }: QuotaMeterOptions) {
    const tenants = (): readonly MeteredTenant[] => {
      const { tenants: all, ...others } = facts();
      return all.flatMap((tcp) => {
        const { quota } = tcp.spec;
        if (quota === undefined || !isMeasured(tcp)) return [];
        return [
          {
            uid: tcp.metadata.uid,
            measure: (signal: AbortSignal) => dataSize(tcp, others, signal),
            intervalMs: (last: Measurement) => intervalOf(quota, last),
            measured: (last: Measurement) => {
              const { namespace, name } = tcp.metadata;
              if (isNews(tcp, measurementOf(last), options.clock.now())) enqueue({ namespace, name });
            },
          },
        ];
      });
    };
    const pace = { intervalMs: againMs, lookMs, mostAtOnce };
    this.#meter = new TenancyMeter({ ...options, ...pace, name: 'data under a quota', tenants });
  }

  /** What is known of the tenant `uid`. */
  measurementOf(uid: string): DataMeasurement {
    return measurementOf(this.#meter.last(uid) ?? {});
  }

  start(): void {
    this.#meter.start();
  }

  close(): void {
    this.#meter.close();
  }
}

/** What sleeps does not grow, and one that is being deleted may not be kept from it. */
function isMeasured(tcp: TenantControlPlane): boolean {
  const sleeps = tcp.spec.controlPlane.deployment.replicas === 0;
  return hasData(tcp) && !sleeps && tcp.metadata.deletionTimestamp === undefined;
}

function intervalOf(quota: Quota, { found, failure }: Measurement): number {
  if (failure !== undefined || found === undefined) return againMs;
  const { bytes, keys } = found.size.content;
  return measureInterval(quota, { bytes, keys, tookMs: found.tookMs });
}

function measurementOf({ found, failure }: Measurement): DataMeasurement {
  return {
    ...(found !== undefined && {
      found: { bytes: found.size.content.bytes, keys: found.size.content.keys, time: found.time },
    }),
    ...(failure !== undefined && { failure }),
  };
}
