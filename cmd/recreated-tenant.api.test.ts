import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ObjectMemory } from '../runtime/cache/object-memory.ts';
import { capiCluster } from '../api/cluster-api/kinds.ts';
import { stewardControlPlane } from '../api/controlplane/steward-control-plane.ts';
import { kinds } from '../api/core/kinds.ts';
import { dataStore } from '../api/steward/v1alpha1/data-store.ts';
import { retainedControlPlane } from '../api/steward/v1alpha1/retained-control-plane.ts';
import { tenantControlPlane } from '../api/steward/v1alpha1/tenant-control-plane.ts';
import { access as ofRecords } from '../controllers/retainedcontrolplane/access.ts';
import { retainedControlPlaneController } from '../controllers/retainedcontrolplane/controller.ts';
import { access as ofControlPlanes } from '../controllers/stewardcontrolplane/access.ts';
import { stewardControlPlaneController } from '../controllers/stewardcontrolplane/controller.ts';
import { access as ofTenants } from '../controllers/tenantcontrolplane/access.ts';
import { tenantControlPlaneController } from '../controllers/tenantcontrolplane/controller.ts';
import { removeData } from '../controllers/tenantcontrolplane/deletion.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Cluster } from '../runtime/client/cluster.ts';
import type { Controller } from '../runtime/reconcile/controller.ts';
import { openCluster } from '../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../runtime/client/kubeconfig.ts';
import { silent } from '../runtime/observe/logger.ts';
import { Reconciler } from '../runtime/reconcile/reconciler.ts';
import { etcdDriver } from '../stores/etcd/driver.ts';
import { secretReader } from '../stores/secret-reader.ts';
import { Sessions } from '../stores/sessions.ts';
import { StoreAccess } from '../stores/store-access.ts';
import { TenantPool } from '../tenants/pool.ts';
import { emptyInformers } from '../testing/fake/empty-informers.ts';
import { noInfrastructureWatches } from '../testing/fake/no-infrastructure-watches.ts';
import { noBlockerWatches } from '../testing/fake/no-blocker-watches.ts';
import { startEtcdDataStore } from '../testing/contracts/stores/etcd/data-store.ts';
import type { EtcdDataStore } from '../testing/contracts/stores/etcd/data-store.ts';
import { FakeCluster } from '../testing/fake/fake-cluster.ts';
import { grantUser } from '../testing/servers/grant-user.ts';
import { installKinds } from '../testing/servers/install-kinds.ts';
import { openDefinition } from '../testing/builders/open-definition.ts';
import { startApiServer } from '../testing/servers/api-server.ts';
import type { ApiServer } from '../testing/servers/api-server.ts';
import { startGarbageCollector } from '../testing/servers/garbage-collector.ts';
import { serverFolder } from '../testing/servers/server-folder.ts';
import type { ServerProcess } from '../testing/servers/server-process.ts';

const user = 'controllers';
const key = { namespace: 'default', name: 'tenant' };

let server: ApiServer;
let etcd: EtcdDataStore;
let collector: ServerProcess;
let folder: Awaited<ReturnType<typeof serverFolder>>;
let admin: Cluster;
let operator: Cluster;
let sessions: Sessions;
let pool: TenantPool;
let reconcilers: readonly [retainer: Reconciler, tenant: Reconciler, record: Reconciler];

const reconcilerOf = (controller: Controller): Reconciler =>
  new Reconciler({
    memory: new ObjectMemory(),
    controller,
    cluster: operator,
    clock: systemClock,
    events: { record: () => undefined },
    stop: new AbortController().signal,
    wrote: () => undefined,
  });

function startControllers(): typeof reconcilers {
  const inside = new FakeCluster();
  // A pool closes the client of a deleted tenant; the server itself stays.
  inside.close = () => Promise.resolve();
  pool = new TenantPool({ memory: new ObjectMemory(), clock: systemClock, open: () => inside });
  sessions = new Sessions({ clock: systemClock });
  const read = secretReader((secret) => operator.get(kinds.Secret, secret));
  const stores = new StoreAccess({ drivers: [etcdDriver], sessions, read });
  const shared = { cluster: operator, stores, defaultDataStore: '' };
  const retainer = stewardControlPlaneController({
    cluster: operator,
    watchFilter: '',
    infrastructure: noInfrastructureWatches,
    blockers: noBlockerWatches,
  });
  const record = retainedControlPlaneController({
    cluster: operator,
    namespace: '',
    removeData: (former, ctx) => removeData(former, { ...shared, allTenants: () => [] }, ctx),
  });
  const tenant = tenantControlPlaneController({
    memory: new ObjectMemory(),
    ...shared,
    informers: emptyInformers,
    clock: systemClock,
    pool,
  });
  return [reconcilerOf(retainer), reconcilerOf(tenant), reconcilerOf(record)];
}

/** What the Deployment's controller and a kubelet would report. */
async function startPods(): Promise<void> {
  const found = await admin.get(kinds.Deployment, key);
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return;
  const counts = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
  const body = { status: { observedGeneration: found.metadata.generation, ...counts } };
  await admin.patch(kinds.Deployment, key, { type: 'merge', body }, { subresource: 'status' });
}

/** Reconciles both in turn until `done`, while garbage collection runs. */
async function work(done: () => Promise<boolean>): Promise<void> {
  const [retainer, tenant, record] = reconcilers;
  for (let turns = 0; turns < 200; turns += 1) {
    const scp = await admin.get(stewardControlPlane, key);
    if (scp !== undefined) await retainer.reconcile(scp, silent);
    const tcp = await admin.get(tenantControlPlane, key);
    if (tcp !== undefined) await tenant.reconcile(tcp, silent);
    const retained = await admin.get(retainedControlPlane, { name: 'default.tenant' });
    if (retained !== undefined) await record.reconcile(retained, silent);
    await startPods();
    if (await done()) return;
  }
  const [scp, tcp] = [await admin.get(stewardControlPlane, key), await admin.get(tenantControlPlane, key)];
  throw new Error(`no end: ${JSON.stringify([scp?.status, tcp?.status])}`);
}

const isReady = async (other?: string): Promise<boolean> => {
  const tcp = await admin.get(tenantControlPlane, key);
  const ready = tcp?.status?.conditions?.find(({ type }) => type === 'Ready');
  return tcp?.metadata.uid !== other && ready?.status === 'True';
};

async function relied(): Promise<unknown> {
  const names = ['tenant-ca', 'tenant-front-proxy-ca-certificate', 'tenant-sa-certificate'];
  const secrets = await Promise.all(names.map((name) => admin.get(kinds.Secret, { ...key, name })));
  const { status } = (await admin.get(tenantControlPlane, key)) ?? {};
  const { schema, user: storeUser } = status?.storage?.setup ?? {};
  return {
    data: secrets.map((secret) => secret?.data),
    service: (await admin.get(kinds.Service, key))?.metadata.uid,
    endpoint: status?.controlPlaneEndpoint,
    schema,
    storeUser,
  };
}

const etcdUsers = async (): Promise<readonly string[]> =>
  (await etcd.server.control('user', 'list'))
    .trim()
    .split('\n')
    .filter((name) => name.startsWith('t'));

beforeAll(async () => {
  folder = await serverFolder();
  [server, etcd] = await Promise.all([startApiServer(), startEtcdDataStore()]);
  const connection = parseKubeconfig(server.kubeconfig);
  admin = openCluster(connection, { name: 'management' });
  const pair = await server.clientPair(user);
  operator = openCluster({ ...connection, clientCert: pair.certificate, clientKey: pair.key }, { name: 'management' });
  await admin.apply(kinds.CustomResourceDefinition, openDefinition(capiCluster), { fieldManager: 'test' });
  await installKinds(admin, [dataStore, tenantControlPlane, retainedControlPlane, stewardControlPlane]);
  await grantUser(admin, user, [...ofControlPlanes, ...ofRecords, ...ofTenants]);
  // No controller of DataStores verifies it here.
  const spec = { ...etcd.dataStore.spec, isolationPolicy: 'Report' } as const;
  await admin.create(dataStore, { ...etcd.dataStore, spec, metadata: { name: 'default' } });
  collector = await startGarbageCollector(server, folder.path);
  reconcilers = startControllers();
}, 240_000);

afterAll(async () => {
  await pool.close();
  await sessions[Symbol.asyncDispose]();
  await Promise.all([admin.close(), operator.close()]);
  await collector.kill();
  await Promise.all([server.stop(), etcd[Symbol.asyncDispose]()]);
  await folder[Symbol.asyncDispose]();
}, 60_000);

async function makeControlPlane(): Promise<void> {
  const { metadata } = await admin.create(capiCluster, {
    apiVersion: `${capiCluster.group}/${capiCluster.version}`,
    kind: capiCluster.kind,
    metadata: key,
    spec: {
      controlPlaneRef: { apiGroup: stewardControlPlane.group, kind: stewardControlPlane.kind, name: key.name },
      clusterNetwork: { services: { cidrBlocks: ['10.112.0.0/16'] }, pods: { cidrBlocks: ['10.128.0.0/16'] } },
    },
  });
  const { uid } = metadata;
  await admin.create(stewardControlPlane, {
    apiVersion: `${stewardControlPlane.group}/v1alpha2`,
    kind: stewardControlPlane.kind,
    metadata: {
      ...key,
      ownerReferences: [
        { apiVersion: `${capiCluster.group}/${capiCluster.version}`, kind: 'Cluster', name: key.name, uid },
      ],
    },
    spec: {
      version: 'v1.36.3',
      replicas: 1,
      registry: 'registry.k8s.io',
      dataStoreName: 'default',
      kubelet: { preferredAddressTypes: ['InternalIP'], cgroupfs: 'cgroupfs' },
      network: { serviceType: 'NodePort', serviceAddress: '192.0.2.1' },
      addons: {},
    },
  });
}

describe('A TenantControlPlane that is deleted while its StewardControlPlane stays, on a real API server with etcd and garbage collection', () => {
  test('is recreated with the same tenancy, CAs and Service, and is removed with its StewardControlPlane', async () => {
    await makeControlPlane();
    await work(isReady);
    const { uid } = (await admin.get(tenantControlPlane, key))?.metadata ?? {};
    const before = await relied();
    const users = await etcdUsers();
    expect(users).toHaveLength(1);
    await admin.delete(tenantControlPlane, key);
    await work(() => isReady(uid));
    expect((await admin.get(tenantControlPlane, key))?.status?.storage?.owner).toBe(uid);
    expect(await relied()).toEqual(before);
    expect(await etcdUsers()).toEqual(users);
    expect(await admin.get(retainedControlPlane, { name: 'default.tenant' })).toBeUndefined();
    await admin.delete(stewardControlPlane, key);
    await work(async () => (await admin.get(stewardControlPlane, key)) === undefined);
    expect(await etcdUsers()).toEqual([]);
  }, 240_000);

  test('leaves nothing in the datastore if its StewardControlPlane is deleted before it is recreated', async () => {
    await admin.delete(capiCluster, key);
    await makeControlPlane();
    await work(isReady);
    expect(await etcdUsers()).toHaveLength(1);
    await admin.delete(tenantControlPlane, key);
    await work(async () => (await admin.get(tenantControlPlane, key)) === undefined);
    expect(await admin.get(retainedControlPlane, { name: 'default.tenant' })).toBeDefined();
    await admin.delete(stewardControlPlane, key);
    await work(async () => (await admin.get(stewardControlPlane, key)) === undefined);
    expect(await etcdUsers()).toEqual([]);
  }, 240_000);
});
