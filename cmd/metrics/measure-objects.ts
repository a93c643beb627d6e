import type { Secret } from '../../api/core/kinds.ts';
import { labels } from '../../api/names.ts';
import type { BackupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { ControlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import type { ControlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { backupMetrics, measuredPolicies } from './backup-metrics.ts';
import { dataStoreMetrics } from './data-store-metrics.ts';
import { certificateMetrics } from './certificate-metrics.ts';
import { measuredPools, poolMetrics } from './pool-metrics.ts';
import type { MeasuredPool } from './pool-metrics.ts';
import { tenantMetrics } from './tenant-metrics.ts';
import type { TenancySize } from '../../stores/driver.ts';
import type { ProbeResult } from '../../tenants/probe.ts';
import type { ProbePath } from '../../tenants/prober.ts';
import type { Metrics } from '../../runtime/observe/metrics.ts';

/** What is measured when metrics are scraped. */
export interface MeasuredObjects {
  readonly now: () => Date;
  readonly tenants: () => readonly TenantControlPlane[];
  /** Secrets that belong to tenants; their metadata is enough. */
  readonly secrets: () => readonly Pick<Secret, 'metadata'>[];
  readonly dataStores: () => readonly DataStore[];
  readonly policies: () => readonly BackupPolicy[];
  readonly pools: () => readonly ControlPlanePool[];
  readonly claims: () => readonly ControlPlaneClaim[];
  /** The last probe of a tenant on each way to its API server. */
  readonly probes: (uid: string) => ReadonlyMap<ProbePath, ProbeResult>;
  /** How much a tenant stores; undefined while it is not known. */
  readonly dataSize: (uid: string) => TenancySize | undefined;
  /** How often a tenant was written to; undefined while it is not known. */
  readonly dataWrites: (uid: string) => number | undefined;
  /** DataStore of tenants that neither name nor select one; empty for none. */
  readonly defaultDataStore: string;
}

/** Adds the objects that this process watches to its metrics. */
export function measureObjects(
  metrics: Pick<Metrics, 'watchObjects'>,
  { tenants, secrets, dataStores, policies, pools, claims, ...facts }: MeasuredObjects,
): void {
  metrics.watchObjects<TenantControlPlane>(tenantMetrics(facts), {
    list: tenants,
    labels: ['namespace', 'name'],
    nameOf: ({ metadata: { namespace, name } }) => ({ namespace, name }),
  });
  metrics.watchObjects<Pick<Secret, 'metadata'>>(certificateMetrics, {
    list: () => ownedBy(tenants(), secrets()),
    labels: ['namespace', 'name', 'secret'],
    nameOf: ({ metadata: { namespace, name, labels: carried } }) => ({
      namespace,
      name: carried?.[labels.name] ?? '',
      secret: name,
    }),
  });
  metrics.watchObjects<DataStore>(dataStoreMetrics, {
    list: dataStores,
    labels: ['name'],
    nameOf: ({ metadata: { name } }) => ({ name }),
  });
  metrics.watchObjects<BackupPolicy>(backupMetrics, {
    list: () => measuredPolicies(policies(), tenants()),
    labels: ['namespace', 'name'],
    nameOf: ({ metadata: { namespace }, spec }) => ({ namespace, name: spec.tenantControlPlaneName }),
  });
  metrics.watchObjects<MeasuredPool>(poolMetrics, {
    list: () => measuredPools(pools(), claims()),
    labels: ['namespace', 'name'],
    nameOf: ({ namespace, name }) => ({ namespace, name }),
  });
}

/** So many of a tenant are measured: more have not been made by Steward. */
const mostSecrets = 32;

/**
 * The Secrets that these tenants own. Labels and annotations alone are no proof: authors may set them on any number of Secrets, and
 * each would be a series, and perhaps an alert.
 */
function ownedBy(
  tenants: readonly TenantControlPlane[],
  secrets: readonly Pick<Secret, 'metadata'>[],
): readonly Pick<Secret, 'metadata'>[] {
  const counts = new Map(tenants.map(({ metadata: { uid, namespace, name } }) => [`${namespace}/${name}/${uid}`, 0]));
  return secrets.filter(({ metadata: { namespace, labels: carried, ownerReferences = [] } }) => {
    const owner = ownerReferences.find(({ controller, kind }) => controller === true && kind === 'TenantControlPlane');
    const key = `${namespace}/${carried?.[labels.name] ?? ''}/${owner?.uid ?? ''}`;
    const before = counts.get(key);
    if (before === undefined || before >= mostSecrets) return false;
    counts.set(key, before + 1);
    return true;
  });
}
