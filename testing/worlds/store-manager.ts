import { kinds } from '../../api/core/kinds.ts';
import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { dataStoreController } from '../../controllers/datastore/controller.ts';
import { tenantControlPlaneController } from '../../controllers/tenantcontrolplane/controller.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { EventRecorder } from '../../runtime/observe/event-recorder.ts';
import { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { Manager } from '../../runtime/reconcile/manager.ts';
import { etcdDriver } from '../../stores/etcd/driver.ts';
import { secretReader } from '../../stores/secret-reader.ts';
import { Sessions } from '../../stores/sessions.ts';
import { StoreAccess } from '../../stores/store-access.ts';
import { TenantPool } from '../../tenants/pool.ts';
import { FakeCluster } from '../fake/fake-cluster.ts';

/** A manager with the controllers of TenantControlPlanes and DataStores; tenants' own API servers are in memory. */
export async function startStoreManager(cluster: Cluster): Promise<AsyncDisposable> {
  const clock = systemClock;
  const informers = new InformerFactory({ cluster });
  const sessions = new Sessions({ clock });
  const memory = new ObjectMemory();
  const pool = new TenantPool({ memory, clock, open: () => new FakeCluster() });
  const read = secretReader((key) => cluster.get(kinds.Secret, key));
  const stores = new StoreAccess({ drivers: [etcdDriver], sessions, read });
  const tenants = informers.informer({ kind: tenantControlPlane });
  const controllers = [
    tenantControlPlaneController({ memory, cluster, informers, clock, stores, pool }),
    dataStoreController({
      memory,
      clock,
      stores,
      tenants: () => tenants.list(),
      allTenants: async () => ({ tenants: (await cluster.list(tenantControlPlane)).items, unknown: [] }),
      defaultDataStore: '',
      namespace: '',
      isolationIntervalMs: 0,
    }),
  ];
  const events = new EventRecorder({ memory, cluster, clock, log: silent, controller: 'test', instance: 'test' });
  const manager = new Manager({ memory, controllers, cluster, informers, clock, log: silent, events });
  await manager.start();
  return {
    async [Symbol.asyncDispose]() {
      await manager.stop(2000);
      await pool.close();
      await sessions[Symbol.asyncDispose]();
      await informers.close();
    },
  };
}
