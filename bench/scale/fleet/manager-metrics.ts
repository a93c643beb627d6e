import { metricSamples } from '../../footprint/metric-samples.ts';
import type { ProcessUsage } from '../../footprint/process-usage.ts';

/** What the manager says of itself. */
export interface ManagerMetrics {
  /** To the management API since its start, by verb. */
  readonly managementRequests: Readonly<Record<string, number>>;
  /** To tenants' API servers since its start, by verb, without the lists and watches for drift. */
  readonly tenantCalls: Readonly<Record<string, number>>;
  /** Of TenantControlPlanes since its start. */
  readonly reconciles: number;
  /** TenantControlPlanes that wait for a reconcile or are in one. */
  readonly busy: number;
  /** The 99th percentile of the event loop's lag since the last look, and the longest, in milliseconds. */
  readonly lagP99Ms: number;
  readonly lagMaxMs: number;
  readonly heapMiB: number;
  /** Managers that share the tenants, itself included; 0 where one works at a time. */
  readonly members: number;
}

/** The manager at one time, from outside and by its metrics. */
export interface ManagerLook extends ProcessUsage, ManagerMetrics {
  /** Milliseconds of `performance.now()`. */
  readonly at: number;
}

/** Node measures by a timer of so many milliseconds, and counts them as lag. */
const timerMs = 10;
const controller = 'tenantcontrolplane';
const membersMetric = 'steward_shard_members';

/** Reads the metrics of a manager. */
export function metricsOfManager(text: string): ManagerMetrics {
  // Most lines are of single tenants.
  const lines = text.split('\n').filter((line) => !line.startsWith('steward_') || line.startsWith(membersMetric));
  const few = lines.join('\n');
  const ofController = (name: string): number =>
    metricSamples(few, name)
      .filter(({ labels }) => labels.controller === controller)
      .reduce((sum, { value }) => sum + value, 0);
  const one = (name: string): number => metricSamples(few, name)[0]?.value ?? 0;
  const lag = (name: string): number => Math.max(0, one(name) * 1000 - timerMs);
  const requests = metricSamples(few, 'rest_client_requests_total');
  const requestsTo = (host: string): Readonly<Record<string, number>> => {
    const counts: Record<string, number> = {};
    for (const { labels, value } of requests.filter(({ labels }) => labels.host === host)) {
      const verb = labels.method ?? '';
      counts[verb] = (counts[verb] ?? 0) + value;
    }
    return counts;
  };
  return {
    managementRequests: requestsTo('management'),
    tenantCalls: requestsTo('tenant'),
    reconciles: ofController('controller_runtime_reconcile_total'),
    busy: ofController('workqueue_depth') + ofController('controller_runtime_active_workers'),
    lagP99Ms: lag('nodejs_eventloop_lag_p99_seconds'),
    lagMaxMs: lag('nodejs_eventloop_lag_max_seconds'),
    heapMiB: one('nodejs_heap_size_used_bytes') / 2 ** 20,
    members: one(membersMetric),
  };
}
