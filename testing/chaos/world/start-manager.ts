import { kinds } from '../../../api/core/kinds.ts';
import { retainedControlPlane } from '../../../api/steward/v1alpha1/retained-control-plane.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { backupControllers } from '../../../cmd/backup/backup-controllers.ts';
import { endOfLeadership } from '../../../cmd/leadership/end-of-leadership.ts';
import { guardedAccess } from '../../../cmd/leadership/guarded-access.ts';
import { retainedTenants, tenantsWithData } from '../../../cmd/tenants-with-data.ts';
import { dataStoreController } from '../../../controllers/datastore/controller.ts';
import { retainedControlPlaneController } from '../../../controllers/retainedcontrolplane/controller.ts';
import { tenantControlPlaneController } from '../../../controllers/tenantcontrolplane/controller.ts';
import { removeData } from '../../../controllers/tenantcontrolplane/deletion.ts';
import { InformerFactory } from '../../../runtime/cache/informer-factory.ts';
import { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { detached } from '../../../runtime/detached.ts';
import { LeaderElection } from '../../../runtime/leader/leader-election.ts';
import { EventRecorder } from '../../../runtime/observe/event-recorder.ts';
import type { Logger } from '../../../runtime/observe/logger.ts';
import type { Controller } from '../../../runtime/reconcile/controller.ts';
import { Manager } from '../../../runtime/reconcile/manager.ts';
import { BackupProcesses } from '../../../stores/backup/process/processes.ts';
import type { Driver } from '../../../stores/driver.ts';
import { secretReader } from '../../../stores/secret-reader.ts';
import { StoreAccess } from '../../../stores/store-access.ts';
import { TenantPool } from '../../../tenants/pool.ts';
import { interceptedCluster } from './intercepted-cluster.ts';
import { interceptedDriver } from './intercepted-driver.ts';
import type { ProductProcess } from './product-process.ts';

/** The namespace of the manager, where its Lease and its Jobs are. */
export const managerNamespace = 'steward-system';

/**
 * Milliseconds. What a verification leaves in a datastore because its manager lost the Lease while it went on is removed by the next one,
 * which comes before a run is judged.
 */
const isolationIntervalMs = 10 * 60_000;

const lease = { namespace: managerNamespace, name: 'steward.butlerlabs.dev' };

/** What a manager works with. */
export interface ManagerPlace {
  readonly management: Cluster;
  /** The tenant's API server. */
  readonly tenant: Cluster;
  readonly drivers: readonly Driver[];
  readonly log: Logger;
  /** Where the process runs, such as the UID of a pod: one that runs there later takes over its Lease. Absent for one that acts unasked. */
  readonly pod: string | undefined;
  /** Unique among the processes of this place. */
  readonly instance: string;
  /** In [0, 1). */
  readonly random: () => number;
  /** Reconciles that begin and end. */
  readonly busy: { began(): void; ended(): void; panicked(): void };
  /** Called when the process ends by itself. */
  readonly exit: () => void;
  /** Spoils the client of the controllers, for a test of this runner. */
  readonly spoil?: ((cluster: Cluster) => Cluster) | undefined;
}

/** A manager with the controllers of TenantControlPlanes, DataStores and backups, as `steward manager` composes them. */
export function startManager(process: ProductProcess, place: ManagerPlace): void {
  const { clock, pass, watches } = process;
  const { log, pod, spoil = (cluster) => cluster } = place;
  const client = interceptedCluster(place.management, { to: 'management', pass, watches });
  const election =
    pod === undefined
      ? undefined
      : electionOf(process, client, { ...place, pod }, () => {
          detached(stop(), log, 'stopping the controllers');
        });
  const { cluster, open, sessions } = guardedAccess({
    client: spoil(client),
    open: () => interceptedCluster(place.tenant, { to: 'tenant', pass, watches }),
    clock,
    mayWrite: () => {
      election?.assertLeads();
    },
  });
  const memory = new ObjectMemory();
  const informers = new InformerFactory({ cluster, clock, log, random: place.random });
  const stores = new StoreAccess({
    drivers: place.drivers.map((driver) => interceptedDriver(driver, pass)),
    sessions,
    read: secretReader((key) => cluster.get(kinds.Secret, key)),
  });
  const pool = new TenantPool({ clock, log, open, memory });
  const parts = { cluster, clock, informers, memory, stores, pool };
  const manager: Manager = new Manager({
    ...{ cluster, clock, informers, memory, log },
    events: new EventRecorder({ cluster, clock, log, memory, controller: 'steward', instance: place.instance }),
    controllers: controllersOf(parts, (key) => {
      manager.enqueue('tenantcontrolplane', key);
    }),
    metricsOf: () => ({ reconciles: { ...silentReconciles, ...place.busy }, queue: silentQueue }),
  });
  const stop = async (): Promise<void> => {
    await manager.stop(0);
    place.exit();
  };
  process.released(() => {
    detached(informers.close(), log, 'forgetting the caches');
  });
  election?.start();
  const begun = (election?.elected ?? Promise.resolve()).then(() => manager.start());
  detached(begun, log, 'starting the controllers');
}

const nothing = (): void => undefined;
const silentReconciles = { limit: nothing, failed: nothing };
const silentQueue = { depth: nothing, added: nothing, retried: nothing, waited: nothing, worked: nothing };

function electionOf(
  process: ProductProcess,
  cluster: Cluster,
  { log, pod, instance, random, exit }: ManagerPlace & { readonly pod: string },
  stop: () => void,
): LeaderElection {
  const { clock } = process;
  return new LeaderElection({
    ...{ cluster, clock, log, lease },
    identity: `${pod}_${instance}`,
    predecessors: `${pod}_`,
    random,
    lost: () => {
      endOfLeadership({ clock, stop, exit });
    },
  });
}

interface Parts {
  readonly cluster: Cluster;
  readonly clock: ProductProcess['clock'];
  readonly informers: InformerFactory;
  readonly memory: ObjectMemory;
  readonly stores: StoreAccess;
  readonly pool: TenantPool;
}

type Enqueue = NonNullable<Parameters<typeof tenantControlPlaneController>[0]['enqueue']>;

function controllersOf(
  { cluster, clock, informers, memory, stores, pool }: Parts,
  enqueue: Enqueue,
): readonly Controller[] {
  const image = (): Promise<string> => Promise.resolve('steward:test');
  const namespace = managerNamespace;
  const processes = new BackupProcesses({
    ...{ cluster, namespace, image },
    claims: new Set(['backups']),
    buckets: new Set<string>(),
  });
  const tenants = (): readonly TenantControlPlane[] => informers.informer({ kind: tenantControlPlane }).list();
  const retained = (): readonly TenantControlPlane[] =>
    retainedTenants(informers.informer({ kind: retainedControlPlane, optional: true }).list()).tenants;
  const common = { cluster, clock, informers, memory, stores, retained };
  return [
    tenantControlPlaneController({
      ...{ ...common, pool, enqueue },
      migrations: { namespace, image, serviceAccount: 'steward-migrate', minimumHoldMs: 0 },
      endRestores: (tenant, signal) => processes.endRestores(tenant, signal),
    }),
    dataStoreController({
      ...{ ...common, defaultDataStore: '', namespace: '', isolationIntervalMs },
      tenants: () => [...tenants(), ...retained()],
      allTenants: (signal) => tenantsWithData(cluster, signal),
    }),
    retainedControlPlaneController({
      ...{ cluster, namespace: '' },
      removeData: (former, ctx) =>
        removeData(former, { cluster, stores, defaultDataStore: '', allTenants: tenants }, ctx),
    }),
    ...backupControllers(processes, { cluster, informers }),
  ];
}
