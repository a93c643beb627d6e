import { kinds } from '../api/core/kinds.ts';
import type { Key } from '../api/meta.ts';
import type { Controller } from '../runtime/controller.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Cluster } from '../runtime/cluster.ts';
import type { InformerFactory } from '../runtime/informer-factory.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { dataStoreController } from '../controllers/datastore/controller.ts';
import type { Migrations } from '../controllers/tenantcontrolplane/dependencies.ts';
import { kubeconfigGeneratorController } from '../controllers/kubeconfiggenerator/controller.ts';
import { stewardControlPlaneController } from '../controllers/stewardcontrolplane/controller.ts';
import { tenantControlPlaneController } from '../controllers/tenantcontrolplane/controller.ts';
import { kubeconfigGenerator } from '../api/steward/v1alpha1/kubeconfig-generator.ts';
import { tenantControlPlane } from '../api/steward/v1alpha1/tenant-control-plane.ts';
import { etcdDriver } from '../stores/etcd/etcd-driver.ts';
import { mysqlDriver } from '../stores/mysql/mysql-driver.ts';
import { natsDriver } from '../stores/nats/nats-driver.ts';
import { postgresDriver } from '../stores/postgres/postgres-driver.ts';
import type { Driver } from '../stores/driver.ts';
import { secretReader } from '../stores/secret-reader.ts';
import type { Sessions } from '../stores/sessions.ts';
import { StoreAccess } from '../stores/store-access.ts';
import type { TenantPool } from '../tenants/pool.ts';
import { imageOfPod } from './image-of-pod.ts';
import type { ManagerSettings } from './manager-settings.ts';

/** The wire protocols of this version. */
export const drivers: readonly Driver[] = [etcdDriver, postgresDriver, mysqlDriver, natsDriver];

/** What the controllers share. */
export interface Shared {
  readonly cluster: Cluster;
  readonly informers: Pick<InformerFactory, 'informer'>;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly pool: TenantPool;
  readonly metrics: Metrics;
  /** Asks a controller for a visit, as if the object had changed. */
  readonly poke: (controller: string, key: Key) => void;
}

/** All controllers of the manager: the map of the program. */
export function createControllers(settings: ManagerSettings, shared: Shared): readonly Controller[] {
  const { cluster, informers, clock, sessions, pool, metrics, poke } = shared;
  const stores = new StoreAccess({ drivers, sessions, read: secretReader((key) => cluster.get(kinds.Secret, key)) });
  const { visitTimeoutMs: timeoutMs, defaultDataStore, namespace } = settings;
  return [
    {
      ...tenantControlPlaneController({
        cluster,
        informers,
        clock,
        stores,
        pool,
        metrics: metrics.apply(),
        defaultDataStore,
        namespace,
        kineImage: settings.kineImage,
        newestMinor: settings.newestMinor,
        renewBeforeMs: settings.renewBeforeMs,
        migrations: migrationsOf(settings, cluster),
        poke: (key) => {
          poke('tenantcontrolplane', key);
        },
      }),
      concurrency: settings.tenantConcurrency,
      timeoutMs,
    },
    {
      ...dataStoreController({
        clock,
        stores,
        defaultDataStore,
        namespace,
        tenants: () => informers.informer({ kind: tenantControlPlane }).list(),
        allTenants: async (signal) => (await cluster.list(tenantControlPlane, { signal })).items,
      }),
      timeoutMs,
    },
    {
      ...stewardControlPlaneController({ cluster, watchFilter: settings.watchFilter }),
      concurrency: settings.controlPlaneConcurrency,
      timeoutMs,
    },
    {
      ...kubeconfigGeneratorController({
        cluster,
        tenants: () => informers.informer({ kind: tenantControlPlane }).list(),
        generators: () => informers.informer({ kind: kubeconfigGenerator }).list(),
        renewBeforeMs: settings.renewBeforeMs,
      }),
      timeoutMs,
    },
  ];
}

/** Migrations run in Jobs beside the manager, of its own image unless another is named. */
function migrationsOf(settings: ManagerSettings, cluster: Cluster): Migrations {
  const { podNamespace: namespace, podName: name, serviceAccount, minimumHoldMs, migrateImage } = settings;
  return {
    namespace,
    serviceAccount: serviceAccount === '' ? 'default' : serviceAccount,
    minimumHoldMs,
    image: (signal) =>
      migrateImage === '' ? imageOfPod(cluster, { namespace, name }, signal) : Promise.resolve(migrateImage),
  };
}
