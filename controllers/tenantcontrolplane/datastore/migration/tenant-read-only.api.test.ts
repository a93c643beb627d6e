import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import type { KindRef, Manifest } from '../../../../api/meta.ts';
import { labels } from '../../../../api/names.ts';
import { systemClock } from '../../../../runtime/clock.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import { ApiError, UnreachableError } from '../../../../runtime/client/errors.ts';
import { openCluster } from '../../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../../runtime/client/kubeconfig.ts';
import { etcdDriver } from '../../../../stores/etcd/driver.ts';
import { mysqlDriver } from '../../../../stores/mysql/driver.ts';
import { postgresDriver } from '../../../../stores/postgres/driver.ts';
import { FakeCluster } from '../../../../testing/fake/fake-cluster.ts';
import { patient } from '../../../../testing/patient.ts';
import { startApiServer } from '../../../../testing/servers/api-server.ts';
import type { ApiServer } from '../../../../testing/servers/api-server.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import { isFreezeRefusal } from './read-only-policy.ts';
import { writePermissionsManifests } from '../../tenant/write-permissions-policy.ts';
import type { ReadOnlyStep } from './migration-step.ts';
import { freeze, thaw } from './tenant-read-only.ts';
import { versionFacts } from '../../upgrade/version-facts.ts';

let server: ApiServer;
const clients: Cluster[] = [];
const management = new FakeCluster();

async function clientOf(user: string, groups: readonly string[]): Promise<Cluster> {
  const pair = await server.clientPair(user, groups);
  const connection = parseKubeconfig(server.kubeconfig);
  const client = openCluster({ ...connection, clientCert: pair.certificate, clientKey: pair.key }, { name: 'tenant' });
  clients.push(client);
  return client;
}

let admin: Cluster;
let node: Cluster;

/** A reconcile of a tenant whose only pod is the server under test, or has another address; `driver` is that of its datastore. */
function reconcile(podAt?: string, driver = 'MySQL'): ReadOnlyStep {
  const pod = podAt === undefined ? admin : openCluster({ server: podAt }, { name: 'tenant', timeoutMs: patient(500) });
  if (pod !== admin) clients.push(pod);
  const observed = { service: undefined, deployment: undefined, dataStore: undefined };
  const share = { dataStoreName: 'store', driver };
  const migration = {
    phase: 'StoppingWrites',
    source: share,
    target: share,
    startedAt: '2026-01-01T00:00:00Z',
  } as const;
  const tcp = { ...tenantControlPlaneWith(), status: { storage: { migration } } };
  return {
    scope: {
      tcp,
      observed: { ...observed, secrets: new Map(), overrideStores: new Map(), refusals: new Map() },
      versions: versionFacts({ tcp }),
      addons: {},
    },
    deps: {
      cluster: management,
      clock: systemClock,
      stores: { capabilities: (name) => drivers.find((driver) => driver.name === name)?.capabilities },
      tenants: { client: () => admin, atPod: (_scope, _ip, work) => work(pod) },
    },
    ctx: { signal: new AbortController().signal, event: () => undefined },
  };
}

/** As reconciles do, one after the other: each waits for two seconds for what the API server loads once a second. */
async function frozen(step: ReadOnlyStep): Promise<string | undefined> {
  for (const end = performance.now() + patient(20_000); ;) {
    const doubt = await freeze(step);
    if (doubt === undefined || performance.now() > end) return doubt;
  }
}

const drivers = [etcdDriver, mysqlDriver, postgresDriver];

const configMap = (name: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
});

/** `done`, `denied` by the freeze, or why it failed otherwise. */
const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof ApiError && isFreezeRefusal(error) ? 'denied' : String(error)),
  );

const review: KindRef = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  namespaced: false,
};
const endpoints: KindRef = { group: '', version: 'v1', kind: 'Endpoints', plural: 'endpoints', namespaced: true };
/** Its path is that of a collection below the account. */
const token: KindRef = {
  group: '',
  version: 'v1',
  kind: 'TokenRequest',
  plural: 'serviceaccounts/sa/token',
  namespaced: true,
};

beforeAll(async () => {
  server = await startApiServer({ rbac: false });
  admin = await clientOf('kubernetes-admin', ['system:masters']);
  node = await clientOf('system:node:one', ['system:nodes']);
  const made: readonly (readonly [KindRef, Manifest])[] = [
    [
      kinds.ServiceAccount,
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa', namespace: 'default' } },
    ],
    [kinds.Node, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'one' } }],
    [kinds.ConfigMap, configMap('there')],
  ];
  for (const [kind, manifest] of made) {
    const create = (): Promise<string> => outcome(admin.create(kind, manifest));
    // The API server makes its first namespaces itself, shortly after it answers.
    for (let said = await create(); said !== 'done' && !said.includes('already exists'); said = await create());
  }
  await management.seed(kinds.Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'tenant-1', namespace: 'default', labels: { [labels.name]: 'tenant' } },
    status: { phase: 'Running', podIP: '192.0.2.1' },
  });
}, 300_000);

afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await server.stop();
});

describe('A tenant that is read-only', () => {
  test('denies every write of every client as soon as that is reported, subresources and the system included', async () => {
    const began = performance.now();
    expect(await frozen(reconcile())).toBeUndefined();
    console.log(`the freeze was proven after ${Math.round(performance.now() - began)} ms`);
    const patch = { type: 'merge', body: { metadata: { labels: { a: 'b' } }, status: { phase: 'x' } } } as const;
    const there = { namespace: 'default', name: 'there' };
    const lease: Manifest = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'one', namespace: 'default' },
    };
    const writes = {
      create: admin.create(kinds.ConfigMap, configMap('new')),
      apply: admin.apply(kinds.ConfigMap, configMap('there'), { fieldManager: 'test' }),
      patch: admin.patch(kinds.ConfigMap, there, patch),
      delete: admin.delete(kinds.ConfigMap, there),
      lease: node.create(kinds.Lease, lease),
      status: node.patch(kinds.Node, { name: 'one' }, patch, { subresource: 'status' }),
      webhooks: admin.create(kinds.ValidatingWebhookConfiguration, {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: 'x' },
      }),
    };
    const seen = Object.fromEntries(
      await Promise.all(Object.entries(writes).map(async ([name, work]) => [name, await outcome(work)] as const)),
    );
    expect(seen).toEqual(Object.fromEntries(Object.keys(writes).map((name) => [name, 'denied'])));
    expect(await outcome(admin.list(kinds.ConfigMap))).toBe('done');
    await thaw(reconcile());
    const written = (): Promise<string> =>
      outcome(admin.patch(kinds.ConfigMap, there, { type: 'merge', body: { data: { a: 'b' } } }));
    const end = performance.now() + patient(20_000);
    while ((await written()) === 'denied' && performance.now() < end) await thaw(reconcile());
    expect(await written()).toBe('done');
  }, 60_000);

  test('allows requests that store nothing: reviews and tokens', async () => {
    expect(await frozen(reconcile())).toBeUndefined();
    const metadata = { name: '' };
    const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata };
    expect(await outcome(node.create(review, asked))).toBe('done');
    const wish = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { name: 'sa', namespace: 'default' },
      spec: {},
    };
    expect(await outcome(admin.create(token, wish))).toBe('done');
    await thaw(reconcile());
  }, 60_000);

  test('lets API servers start, but not renew their announcements', async () => {
    const itself = await clientOf('system:apiserver', ['system:masters']);
    expect(await frozen(reconcile())).toBeUndefined();
    expect(await outcome(itself.create(kinds.ConfigMap, configMap('of-a-start')))).toBe('done');
    const address = { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'kubernetes', namespace: 'default' } };
    expect(await outcome(itself.create(endpoints, address))).toBe('denied');
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'apiserver-one', namespace: 'kube-system' },
    };
    expect(await outcome(itself.create(kinds.Lease, lease))).toBe('denied');
    await thaw(reconcile());
  }, 60_000);

  test.each([
    { driver: 'etcd', leads: 'done' },
    { driver: 'PostgreSQL', leads: 'done' },
    { driver: 'MySQL', leads: 'denied' },
  ])(
    'lets leaders renew their leases if a datastore of $driver does: $leads',
    async ({ driver, leads }) => {
      const leader = await clientOf('system:kube-scheduler', ['system:masters']);
      const lease = (namespace: string, name: string): Manifest => ({
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { namespace, name },
      });
      const of = (client: Cluster, namespace: string, name: string): Promise<string> =>
        outcome(client.create(kinds.Lease, lease(namespace, name), { dryRun: true }));
      expect(await frozen(reconcile(undefined, driver))).toBeUndefined();
      expect(await of(leader, 'kube-system', 'kube-scheduler')).toBe(leads);
      expect(await of(leader, 'default', 'kube-scheduler')).toBe('denied');
      expect(await of(leader, 'kube-system', 'another')).toBe('denied');
      expect(await of(admin, 'kube-system', 'kube-scheduler')).toBe('denied');
      await thaw(reconcile());
    },
    60_000,
  );

  test('is recognized even if another policy denies the same writes', async () => {
    const limits = { blockCreation: true, blockUpdate: false, blockDeletion: false };
    const spec = { writePermissions: limits };
    const [policy, binding] = writePermissionsManifests(tenantControlPlaneWith({ spec }));
    if (policy === undefined || binding === undefined) throw new Error('two manifests are expected');
    await admin.apply(kinds.ValidatingAdmissionPolicy, policy, { fieldManager: 'test' });
    await admin.apply(kinds.ValidatingAdmissionPolicyBinding, binding, { fieldManager: 'test' });
    const said = (): Promise<string> => outcome(admin.create(kinds.ConfigMap, configMap('probe'), { dryRun: true }));
    while (!(await said()).includes(policy.metadata.name));
    expect(await frozen(reconcile())).toBeUndefined();
    await thaw(reconcile());
    await admin.delete(kinds.ValidatingAdmissionPolicyBinding, { name: binding.metadata.name });
    await admin.delete(kinds.ValidatingAdmissionPolicy, { name: policy.metadata.name });
  }, 60_000);

  test('is not reported as read-only if its API server cannot be reached', async () => {
    await expect(freeze(reconcile('https://192.0.2.77:6443'))).rejects.toThrow(UnreachableError);
    await thaw(reconcile());
  }, 60_000);

  test('is reported as read-only if nothing listens there, because a new API server finds the policy first', async () => {
    expect(await frozen(reconcile('https://127.0.0.1:1'))).toBeUndefined();
    await thaw(reconcile());
  }, 60_000);
});
