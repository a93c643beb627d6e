import { expect, test } from '@jest/globals';
import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { Resource } from '../../api/meta.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { retainedControlPlane } from '../../api/steward/v1alpha1/retained-control-plane.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { EventRecorder } from '../../runtime/observe/event-recorder.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import { parseKubeconfig } from '../../runtime/client/kubeconfig.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { Manager } from '../../runtime/reconcile/manager.ts';
import { etcdDriver } from '../../stores/etcd/driver.ts';
import { secretReader } from '../../stores/secret-reader.ts';
import { Sessions } from '../../stores/sessions.ts';
import { StoreAccess } from '../../stores/store-access.ts';
import { startEtcdDataStore } from '../../testing/contracts/stores/etcd/data-store.ts';
import { patient } from '../../testing/patient.ts';
import type { EtcdServer } from '../../testing/servers/etcd-server.ts';
import { grantUser } from '../../testing/servers/grant-user.ts';
import { installKinds } from '../../testing/servers/install-kinds.ts';
import { startApiServer } from '../../testing/servers/api-server.ts';
import { access } from './access.ts';
import { dataStoreController } from './controller.ts';

/** Watches one DataStore until it meets the condition; a deleted one is undefined. */
async function until(
  cluster: Cluster,
  name: string,
  holds: (store: DataStore | undefined) => boolean,
): Promise<DataStore | undefined> {
  const signal = AbortSignal.timeout(patient(20_000));
  let last: DataStore | undefined;
  try {
    for await (const event of cluster.watch(dataStore, { fieldSelector: `metadata.name=${name}`, signal })) {
      if (event.type === 'DELETED') last = undefined;
      else if (event.type === 'ADDED' || event.type === 'MODIFIED') last = event.object;
      if (event.type !== 'BOOKMARK' && holds(last)) return last;
    }
  } catch (error) {
    throw new Error(`not as expected: ${JSON.stringify(last?.status)}`, { cause: error });
  }
  throw new Error('the watch ended');
}

const reasonOf = (store: DataStore | undefined, type: string): string | undefined =>
  store?.status?.conditions?.find((condition) => condition.type === type)?.reason;

/** A manager with this controller alone and with the rights that it declares. */
async function startManager(cluster: Cluster): Promise<AsyncDisposable> {
  const informers = new InformerFactory({ cluster });
  const sessions = new Sessions({ clock: systemClock });
  const read = secretReader((key) => cluster.get(kinds.Secret, key));
  const stores = new StoreAccess({ drivers: [etcdDriver], sessions, read });
  const tenants = informers.informer({ kind: tenantControlPlane });
  const controller = dataStoreController({
    memory: new ObjectMemory(),
    clock: systemClock,
    stores,
    tenants: () => tenants.list(),
    allTenants: async (signal) => ({
      tenants: (await cluster.list(tenantControlPlane, { signal })).items,
      unknown: [],
    }),
    defaultDataStore: '',
    namespace: '',
    isolationIntervalMs: 0,
  });
  const events = new EventRecorder({
    memory: new ObjectMemory(),
    cluster,
    clock: systemClock,
    log: silent,
    controller: 'test',
    instance: 'test',
  });
  const manager = new Manager({
    memory: new ObjectMemory(),
    controllers: [controller],
    cluster,
    informers,
    clock: systemClock,
    log: silent,
    events,
  });
  await manager.start();
  return {
    async [Symbol.asyncDispose]() {
      await manager.stop(2000);
      await sessions[Symbol.asyncDispose]();
      await informers.close();
    },
  };
}

/** Leaves free pages in the file of an etcd. */
async function fragment(server: EtcdServer): Promise<void> {
  const control = (...words: readonly string[]): Promise<string> => server.control(...words);
  for (let index = 0; index < 40; index += 1) await control('put', `filler/${index}`, 'x'.repeat(100_000));
  await control('del', 'filler/', '--prefix');
  const { header } = JSON.parse(await control('get', 'filler', '-w', 'json')) as {
    readonly header: { readonly revision: number };
  };
  await control('compact', String(header.revision), '--physical');
  // etcd counts the pages that a compaction freed some time after it, when it writes something.
  for (let attempt = 0; attempt < 200; attempt += 1) {
    await control('put', 'filler', '');
    const [member] = JSON.parse(await control('endpoint', 'status', '-w', 'json')) as readonly {
      readonly Status: { readonly dbSize: number; readonly dbSizeInUse: number };
    }[];
    if (member !== undefined && member.Status.dbSizeInUse < member.Status.dbSize / 2) return;
  }
  throw new Error('etcd counts no free pages');
}

const events = { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] };

test('a DataStore follows its Secret, its server and its tenants on a real API server, and stays while it is used', async () => {
  await using server = await startApiServer();
  await using etcd = await startEtcdDataStore();
  const connection = parseKubeconfig(server.kubeconfig);
  const admin = openCluster(connection, { name: 'management' });
  const pair = await server.clientPair('datastore-controller');
  const cluster = openCluster(
    { ...connection, clientCert: pair.certificate, clientKey: pair.key },
    { name: 'management' },
  );
  try {
    await installKinds(admin, [dataStore, retainedControlPlane, tenantControlPlane]);
    await grantUser(admin, 'datastore-controller', [...access, events]);
    await using manager = await startManager(cluster);
    const reference = (keyPath: string) => ({ secretReference: { name: 'etcd-certs', namespace: 'default', keyPath } });
    const tlsConfig = {
      certificateAuthority: { certificate: reference('ca.crt'), privateKey: reference('ca.key') },
      clientCertificate: { certificate: reference('tls.crt'), privateKey: reference('tls.key') },
    };
    const { endpoints } = etcd.dataStore.spec;
    const spec = { driver: 'etcd', endpoints, tlsConfig };
    const apiVersion = 'steward.butlerlabs.dev/v1alpha1';
    await admin.create(dataStore, { apiVersion, kind: 'DataStore', metadata: { name: 'default' }, spec });
    await until(admin, 'default', (store) => reasonOf(store, 'Ready') === 'CredentialsMissing');

    const { ca, root } = etcd.tls;
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const data = { 'ca.crt': ca.certificate, 'ca.key': ca.key, 'tls.crt': root.certificate, 'tls.key': root.key };
    const metadata = { name: 'etcd-certs', namespace: 'default' };
    const encoded = Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)]));
    await admin.create(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata, data: encoded });
    const ready = await until(admin, 'default', (store) => store?.status?.ready === true);
    expect(ready?.status?.serverVersion).toMatch(/^3\./);
    expect(ready?.metadata.finalizers).toHaveLength(1);
    const verified = await until(admin, 'default', (store) => reasonOf(store, 'IsolationVerified') === 'Verified');
    const { isolation } = verified?.status ?? {};
    expect(isolation).toMatchObject({ serverVersion: ready?.status?.serverVersion, attempts: expect.any(Number) });
    expect(isolation?.breach).toBeUndefined();
    expect(ready?.status?.etcd).toEqual({ storageVersion: ready?.status?.serverVersion?.replace(/\.\d+$/, '') });

    await fragment(etcd.server);
    const defragmentation = { freePercent: 30, minimumSize: '1Mi' };
    const asked = { type: 'merge', body: { spec: { etcd: { defragmentation } } } } as const;
    await admin.patch(dataStore, { name: 'default' }, asked);
    const tidy = await until(admin, 'default', (store) => store?.status?.etcd?.defragmented !== undefined);
    expect(tidy?.status?.etcd?.defragmented).toMatchObject([{ endpoint: endpoints[0] }]);
    expect(tidy?.status?.etcd?.defragmented?.[0]?.freedBytes).toBeGreaterThan(2 ** 20);
    await until(admin, 'default', (store) => reasonOf(store, 'Defragmented') === 'Defragmented');

    const tcp = { apiVersion, kind: 'TenantControlPlane', metadata: { name: 'a', namespace: 'default' } };
    const minimal = {
      ...tcp,
      spec: {
        controlPlane: { service: { serviceType: 'ClusterIP' } },
        kubernetes: { version: 'v1.36.3', kubelet: {} },
      },
    };
    await admin.create(tenantControlPlane, minimal);
    const status = { status: { storage: { dataStoreName: 'default' } } };
    const key = { name: 'a', namespace: 'default' };
    await admin.patch(tenantControlPlane, key, { type: 'merge', body: status }, { subresource: 'status' });
    await until(admin, 'default', (store) => store?.status?.usedBy?.join() === 'default/a');

    await admin.delete(dataStore, { name: 'default' });
    await until(admin, 'default', (store) => reasonOf(store, 'Deleting') === 'InUse');
    await admin.delete(tenantControlPlane, key);
    await until(admin, 'default', (store) => store === undefined);
    const said = await admin.list<Resource & { readonly reason?: string }>({
      ...kinds.ConfigMap,
      group: 'events.k8s.io',
      kind: 'Event',
      plural: 'events',
    });
    expect(said.items.map(({ reason }) => reason)).toEqual(
      expect.arrayContaining(['CredentialsMissing', 'Ready', 'Defragmenting', 'InUse']),
    );
    expect(manager).toBeDefined();
  } finally {
    await Promise.all([admin.close(), cluster.close()]);
  }
}, 120_000);
