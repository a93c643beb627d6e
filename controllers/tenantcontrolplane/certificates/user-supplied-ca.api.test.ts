import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import { clusterNameLabel } from '../../../api/cluster-api/names.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { KeyPair } from '../../../kubeadm/pki/key-pair.ts';
import { systemClock } from '../../../runtime/clock.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import { openCluster } from '../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../runtime/client/kubeconfig.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import { TenantPool } from '../../../tenants/pool.ts';
import { emptyInformers } from '../../../testing/fake/empty-informers.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { patient } from '../../../testing/patient.ts';
import { installKinds } from '../../../testing/servers/install-kinds.ts';
import { startApiServer } from '../../../testing/servers/api-server.ts';
import type { ApiServer } from '../../../testing/servers/api-server.ts';
import { serverCa } from '../../../testing/servers/server-certificates.ts';
import { suppliedSecret } from '../../../testing/builders/supplied-secret.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { createDependencies } from '../create-dependencies.ts';
import { authorities } from './ca-phase.ts';
import type { Scope } from '../scope.ts';
import { versionFacts } from '../upgrade/version-facts.ts';

const namespace = 'default';

let server: ApiServer;
let admin: Cluster;
let pool: TenantPool;
let own: KeyPair;

beforeAll(async () => {
  server = await startApiServer();
  admin = openCluster(parseKubeconfig(server.kubeconfig), { name: 'management' });
  pool = new TenantPool({ memory: new ObjectMemory(), clock: systemClock, open: () => new FakeCluster() });
  await installKinds(admin, [tenantControlPlane]);
}, 180_000);

beforeEach(async () => {
  own = await serverCa('Example Corp CA');
});

afterAll(async () => {
  await pool.close();
  await admin.close();
  await server.stop();
}, 60_000);

/** A TenantControlPlane before its first reconcile. */
function create(name: string): Promise<TenantControlPlane> {
  const { apiVersion, kind, spec } = tenantControlPlaneWith();
  return admin.create(tenantControlPlane, { apiVersion, kind, metadata: { name, namespace }, spec });
}

const secretOf = (name: string): Promise<Secret | undefined> => admin.get(kinds.Secret, { namespace, name });

/** Runs the CA phase for a tenant of this Cluster in a new process. */
async function reconcile(tcp: TenantControlPlane, cluster: string): Promise<Outcome<Scope>> {
  const unused = (): Promise<never> => Promise.reject(new Error('no store is needed'));
  const deps = createDependencies({
    memory: new ObjectMemory(),
    ...{ cluster: admin, informers: emptyInformers, clock: systemClock, pool },
    stores: { open: unused, openTogether: unused, capabilities: () => undefined },
    clusterOf: () => Promise.resolve(cluster),
  });
  const { items } = await admin.list<Secret>(kinds.Secret, {
    ...{ namespace, labelSelector: `steward.butlerlabs.dev/name=${tcp.metadata.name}` },
  });
  const secrets = new Map(items.map((secret) => [secret.metadata.name, secret]));
  const none = {
    service: undefined,
    deployment: undefined,
    dataStore: undefined,
    overrideStores: new Map(),
    refusals: new Map(),
  };
  const ctx = { signal: AbortSignal.timeout(patient(60_000)), now: new Date(), log: silent, event: () => undefined };
  const versions = versionFacts({ tcp });
  return authorities({ tcp, versions, observed: { ...none, secrets }, addons: {} }, deps, ctx);
}

describe('A CA under the name of its Cluster', () => {
  test.each(['cluster.x-k8s.io/secret', 'kubernetes.io/tls'])(
    'that was supplied is accepted by a real API server, and its type %s stays',
    async (type) => {
      const cluster = type.includes('tls') ? 'by-handbook' : 'by-type';
      await admin.create(kinds.Secret, {
        ...suppliedSecret({ cluster, purpose: 'ca' }, own, { type }),
        metadata: {
          ...{ namespace, name: `${cluster}-ca`, labels: { [clusterNameLabel]: cluster } },
        },
      });
      const before = await secretOf(`${cluster}-ca`);
      const tcp = await create(cluster);
      expect(await reconcile(tcp, cluster)).toMatchObject({ is: 'done', learned: { authorities: { ca: own } } });
      const after = await secretOf(`${cluster}-ca`);
      expect(after).toMatchObject({ type, data: before?.data ?? {}, metadata: { uid: before?.metadata.uid } });
      expect(after?.metadata.ownerReferences).toMatchObject([{ kind: 'TenantControlPlane', name: cluster }]);
      // A field of someone else, and a second run in a process that finds the result of the first one.
      const labeled = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: `${cluster}-ca` } };
      await admin.apply(kinds.Secret, labeled, { fieldManager: 'steward-cluster-api' });
      expect(await reconcile(tcp, cluster)).toMatchObject({ is: 'done', learned: { authorities: { ca: own } } });
      expect(await secretOf(`${cluster}-ca`)).toMatchObject({ type, data: after?.data ?? {} });
    },
  );

  test('that Steward generates has the type of Cluster API, and can be applied again', async () => {
    const tcp = await create('made');
    expect(await reconcile(tcp, 'made')).toMatchObject({ is: 'done' });
    const before = await secretOf('made-ca');
    expect(before).toMatchObject({ type: 'cluster.x-k8s.io/secret' });
    expect(await reconcile(tcp, 'made')).toMatchObject({ is: 'done' });
    expect((await secretOf('made-ca'))?.data).toEqual(before?.data);
  });

  test('that belongs to another Cluster is not changed', async () => {
    const { metadata, ...secret } = suppliedSecret({ cluster: 'theirs', purpose: 'ca' }, own);
    await admin.create(kinds.Secret, { ...secret, metadata: { ...metadata, name: 'theirs-ca' } });
    const before = await secretOf('theirs-ca');
    const tcp = await create('theirs');
    await expect(reconcile(tcp, 'mine')).rejects.toMatchObject({ reason: 'SecretInTheWay' });
    expect(await secretOf('theirs-ca')).toEqual(before);
  });
});
