import { dataStoreName } from '../../api/steward/v1alpha1/data-stores-of.ts';
import { isUnderWay } from '../../api/steward/v1alpha1/share-in-use.ts';
import { isAsleep, replicasNow } from '../../api/steward/v1alpha1/sleep/is-asleep.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { conditionSamples } from '../../runtime/observe/condition-samples.ts';
import type { ObjectMetric, ObjectSample } from '../../runtime/observe/object-metrics.ts';
import type { TenancySize } from '../../stores/driver.ts';
import type { ProbeResult } from '../../tenants/probe.ts';
import type { ProbePath } from '../../tenants/prober.ts';
import { sample } from './sample.ts';

/** Those that say for how long something is so; the others say why `Ready` is not True. A migration has metrics of its own. */
const types = ['Ready', 'ControlPlaneAvailable', 'UpgradeAllowed', 'WithinQuota', 'Rotating', 'Paused'];

const seconds = (time: string): number => Date.parse(time) / 1000;

/** What is known of tenants besides their objects. */
export interface TenantFacts {
  readonly now: () => Date;
  /** DataStore of tenants that neither name nor select one; empty for none. */
  readonly defaultDataStore: string;
  /** The last probe of a tenant on each way to its API server. */
  readonly probes: (uid: string) => ReadonlyMap<ProbePath, ProbeResult>;
  /** How much a tenant stores; undefined while it is not known. */
  readonly dataSize: (uid: string) => TenancySize | undefined;
  /** How often a tenant was written to; undefined while it is not known. */
  readonly dataWrites: (uid: string) => number | undefined;
}

/** What is measured of a TenantControlPlane: at most 25 series. */
export function tenantMetrics(facts: TenantFacts): readonly ObjectMetric<TenantControlPlane>[] {
  const { defaultDataStore, probes, dataSize, dataWrites } = facts;
  const probed = (uid: string, value: (result: ProbeResult) => number): readonly ObjectSample[] =>
    [...probes(uid)].map(([path, result]) => ({ value: value(result), labels: { path } }));
  return [
    {
      name: 'steward_tenant_info',
      help: 'Always 1; Kubernetes version that runs (empty until one does), and name of the DataStore',
      labels: ['version', 'datastore'],
      samples: (tcp) => {
        const { version = '' } = tcp.status?.kubernetesResources?.version ?? {};
        return sample(1, { version, datastore: dataStoreName(tcp, defaultDataStore) });
      },
    },
    {
      name: 'steward_tenant_deleted_timestamp_seconds',
      help: 'When the deletion of the TenantControlPlane began, since 1970; absent before',
      labels: [],
      samples: ({ metadata }) => sample(seconds(metadata.deletionTimestamp ?? '')),
    },
    {
      name: 'steward_tenant_condition',
      help: `1 for True, 0 for False, -1 for Unknown; of the conditions ${types.join(', ')}`,
      labels: ['type'],
      samples: ({ status }) => conditionSamples(status?.conditions, types),
    },
    {
      name: 'steward_tenant_replicas',
      help: 'Pods of the control plane: desired by the spec, or 0 while it sleeps, and ready',
      labels: ['state'],
      samples: ({ spec, status }) => {
        const { readyReplicas } = status?.kubernetesResources?.deployment ?? {};
        return [
          ...sample(replicasNow({ spec, status }), { state: 'desired' }),
          ...sample(readyReplicas ?? 0, { state: 'ready' }),
        ];
      },
    },
    {
      name: 'steward_tenant_sleeping',
      help: '1 while the control plane sleeps, by its schedules, for lack of use, by an annotation or 0 replicas; else 0',
      labels: [],
      samples: (tcp) => sample(isAsleep(tcp) ? 1 : 0),
    },
    {
      name: 'steward_tenant_asleep_seconds_total',
      help: 'For how long the control plane has slept, since `spec.sleep` or an annotation first had an effect; absent before',
      type: 'counter',
      labels: [],
      samples: ({ status }) => {
        const { state, since, ended } = status?.sleep ?? {};
        if (since === undefined) return [];
        const current = state === 'Asleep' ? Math.max(facts.now().getTime() / 1000 - seconds(since), 0) : 0;
        // Whole seconds only, because the status has no others: a counter that decreases would count as one that has started again.
        return sample((ended?.seconds ?? 0) + Math.floor(current));
      },
    },
    {
      name: 'steward_tenant_wakes_total',
      help: 'How often the control plane woke up, by its schedules, a call, an upgrade of its Cluster or a person; absent before `spec.sleep` or an annotation first had an effect',
      type: 'counter',
      labels: ['cause'],
      samples: ({ status }) => {
        if (status?.sleep === undefined) return [];
        const { bySchedule = 0, byRequest, byUpgrade, byPerson = 0 } = status.sleep.ended ?? {};
        return [
          ...sample(bySchedule, { cause: 'schedule' }),
          ...(byRequest === undefined ? [] : sample(byRequest, { cause: 'request' })),
          ...(byUpgrade === undefined ? [] : sample(byUpgrade, { cause: 'upgrade' })),
          ...sample(byPerson, { cause: 'person' }),
        ];
      },
    },
    {
      name: 'steward_tenant_idle_since_timestamp_seconds',
      help: 'When the control plane was last used, since 1970; absent while it is in use, and without `spec.sleep.afterIdle`',
      labels: [],
      samples: ({ status }) => (status?.use?.state === 'Idle' ? sample(seconds(status.use.since)) : []),
    },
    {
      name: 'steward_tenant_use_unknown',
      help: '1 while it cannot be read whether the control plane is used, so that it does not fall asleep; else 0, and absent without `spec.sleep.afterIdle`',
      labels: [],
      samples: ({ spec, status }) => {
        if (spec.sleep?.afterIdle === undefined || status?.use === undefined) return [];
        return sample(status.use.state === 'Unknown' && !isAsleep({ spec, status }) ? 1 : 0);
      },
    },
    {
      name: 'steward_tenant_probe_success',
      help: '1 if the API server was ready in the last probe, 0 if not; `service` is the path that pods in the management cluster take, `endpoint` the path of workers and users',
      labels: ['path'],
      samples: ({ metadata }) => probed(metadata.uid, ({ isUp }) => (isUp ? 1 : 0)),
    },
    {
      name: 'steward_tenant_probe_duration_seconds',
      help: 'How long the last probe took, with a new connection',
      labels: ['path'],
      samples: ({ metadata }) => probed(metadata.uid, ({ seconds: duration }) => duration),
    },
    {
      name: 'steward_tenant_data_size_bytes',
      help: 'Bytes that the tenant stores in its DataStores, as last measured; what is counted differs between drivers',
      labels: [],
      samples: ({ metadata }) => sample(dataSize(metadata.uid)?.bytes),
    },
    {
      name: 'steward_tenant_data_keys',
      help: 'Keys that the tenant stores in its DataStores now, as last measured: about the number of its objects',
      labels: [],
      samples: ({ metadata }) => sample(dataSize(metadata.uid)?.content.keys),
    },
    {
      name: 'steward_tenant_data_content_bytes',
      help: 'Bytes of these keys and their newest values, without history and indexes, which is the same in all drivers',
      labels: [],
      samples: ({ metadata }) => sample(dataSize(metadata.uid)?.content.bytes),
    },
    {
      name: 'steward_tenant_data_writes_total',
      help: 'Writes to the data of the tenant, as last counted, also those of its API server and of kine; begins with another number after a migration; with etcd only for a tenant with `spec.quota.writesPerSecond`',
      type: 'counter',
      labels: [],
      samples: ({ metadata }) => sample(dataWrites(metadata.uid)),
    },
    {
      name: 'steward_tenant_migration_started_timestamp_seconds',
      help: 'When the current migration to another DataStore started, since 1970; absent without one',
      labels: ['phase', 'target'],
      samples: ({ status }) => {
        const migration = status?.storage?.migration;
        if (!isUnderWay(migration)) return [];
        const { phase, startedAt, target } = migration;
        return sample(seconds(startedAt), { phase, target: target.dataStoreName });
      },
    },
    {
      name: 'steward_tenant_migration_remaining_keys',
      help: 'Keys that the current migration has left to copy, if known',
      labels: [],
      samples: ({ status }) => {
        const migration = status?.storage?.migration;
        return isUnderWay(migration) ? sample(migration.remaining) : [];
      },
    },
  ];
}
