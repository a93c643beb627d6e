import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import type { KindRef, Manifest, Resource } from '../../../api/meta.ts';
import { quotaPolicy } from '../../../api/names.ts';
import { resolveTools } from '../../../e2e/tools/resolve.ts';
import { applyExactly } from '../../../runtime/apply/apply-exactly.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import { startApiServer } from '../../../testing/servers/api-server.ts';
import type { ApiServer } from '../../../testing/servers/api-server.ts';
import { createEarly } from '../../../testing/servers/users/create-early.ts';
import { UserClients } from '../../../testing/servers/users/user-clients.ts';
import type { QuotaDecision } from './quota-decision.ts';
import { quotaManifests } from './quota-policy.ts';

const run = promisify(execFile);
const { ValidatingAdmissionPolicy: policyKind, ValidatingAdmissionPolicyBinding: bindingKind } = kinds;
const collector = 'system:serviceaccount:kube-system:generic-garbage-collector';
const replicator = 'system:serviceaccount:kube-system:replicaset-controller';

let server: ApiServer;
let kubectl: string;
const users = new UserClients();
const as = (user: string): Cluster => users.as(user);
const admin = (): Cluster => as('kubernetes-admin');

const merge = (body: unknown) => ({ type: 'merge', body }) as const;
const label = merge({ metadata: { labels: { a: 'b' } } });

const isDenied = (text: string): boolean => text.includes(`ValidatingAdmissionPolicy '${quotaPolicy}'`);

/** `done`, `denied` by the policy, or why it failed otherwise. */
const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (isDenied(String(error)) ? 'denied' : String(error)),
  );

const configMap = (name: string, more: object = {}): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...more },
  data: { a: 'b' },
});
const inDefault = (name: string) => ({ namespace: 'default', name });

const lease = (name: string, namespace: string): Manifest => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, namespace },
  spec: { holderIdentity: 'a' },
});

const labels = { app: 'one' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'one', image: 'one' }] } };
const pod = (name: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { containers: [{ name: 'one', image: 'one' }] },
});

/** A subresource that is created, of one object. */
const subresource = (of: string, kind: string, group = '', version = 'v1'): KindRef => ({
  ...kinds.Pod,
  ...{ plural: of, kind, group: '', version: 'v1' },
  ...(group === '' ? {} : { group, version }),
});

const namespace = (name: string): Manifest => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

/** Puts a Namespace with these finalizers to its subresource, as somebody does who has lost patience. */
async function finalize(name: string, finalizers: readonly string[], annotations: object = {}): Promise<string> {
  const now = await admin().get(kinds.Namespace, { name });
  const metadata = { ...now?.metadata, annotations };
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata, spec: { finalizers } };
  const path = `/api/v1/namespaces/${name}/finalize`;
  const command = `printf %s "$BODY" | ${kubectl} replace --raw ${path} -f -`;
  const env = { ...process.env, KUBECONFIG: server.kubeconfigPath, BODY: JSON.stringify(body) };
  return outcome(run('bash', ['-c', command], { env }));
}

const decision: QuotaDecision = {
  reason: 'QuotaExceeded',
  message: '',
  status: { hard: { objects: 10, dataSize: '1Mi' }, blocked: true, reached: ['dataSize'] },
};

beforeAll(async () => {
  ({ kubectl } = await resolveTools(['kubectl']));
  server = await startApiServer({ rbac: false });
  const client = await users.open(server, 'kubernetes-admin', ['system:masters']);
  await users.open(server, 'system:kube-controller-manager');
  await users.open(server, 'system:kube-scheduler');
  await users.open(server, 'system:node:one', ['system:nodes']);
  await users.open(server, collector);
  await users.open(server, replicator);
  const made: readonly (readonly [KindRef, Manifest])[] = [
    [kinds.Namespace, namespace('kube-node-lease')],
    [kinds.Namespace, namespace('leaving')],
    [kinds.ServiceAccount, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: inDefault('default') }],
    [kinds.Node, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'one' } }],
    [kinds.ConfigMap, configMap('there')],
    [kinds.ConfigMap, configMap('more')],
    ...['held', 'filled', 'changed', 'collected'].map((name): readonly [KindRef, Manifest] => [
      kinds.ConfigMap,
      configMap(name, { finalizers: ['example.com/one', 'example.com/two'] }),
    ]),
    [kinds.Lease, lease('kube-controller-manager', 'kube-system')],
    [kinds.Lease, lease('one', 'kube-node-lease')],
    [kinds.Lease, lease('leader', 'default')],
    [kinds.Pod, pod('bound')],
    [kinds.Pod, pod('evicted')],
    [
      kinds.Deployment,
      {
        ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: inDefault('one') },
        spec: { replicas: 3, selector: { matchLabels: labels }, template },
      },
    ],
  ];
  for (const [kind, manifest] of made) await createEarly(client, kind, manifest);
  for (const name of ['held', 'filled', 'changed', 'collected']) await client.delete(kinds.ConfigMap, inDefault(name));
  const [policy, binding] = quotaManifests(decision);
  if (policy === undefined || binding === undefined) throw new Error('there is no policy');
  await applyExactly(client, { kind: policyKind, manifest: policy }, { fieldManager: 'test' });
  await applyExactly(client, { kind: bindingKind, manifest: binding }, { fieldManager: 'test' });
  const probe = (): Promise<unknown> => client.create(kinds.ConfigMap, configMap('probe'), { dryRun: true });
  while ((await outcome(probe())) !== 'denied');
}, 300_000);

afterAll(async () => {
  await users.close();
  await server.stop();
});

describe('A tenant that has reached its quota', () => {
  test('denies creations and changes to everybody, and says why', async () => {
    await expect(admin().create(kinds.ConfigMap, configMap('new'))).rejects.toThrow(
      /has reached its quota \(1Mi of data or 10 objects\): delete objects, or ask/,
    );
    expect(await outcome(admin().patch(kinds.ConfigMap, inDefault('there'), label))).toBe('denied');
    expect(await outcome(admin().create(kinds.Namespace, namespace('new')))).toBe('denied');
    expect(await outcome(as('system:node:one').patch(kinds.Node, { name: 'one' }, label))).toBe('denied');
  });

  test('denies its controllers what would let the data grow', async () => {
    for (const user of [replicator, 'system:kube-controller-manager', 'system:kube-scheduler']) {
      expect(await outcome(as(user).create(kinds.ConfigMap, configMap('new')))).toBe('denied');
      expect(await outcome(as(user).create(kinds.Pod, pod('new')))).toBe('denied');
    }
  });

  test('denies definitions of new kinds, each of which would open a connection to etcd', async () => {
    const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
    const schema = { openAPIV3Schema: { type: 'object' } };
    const definition: Manifest = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.example.com' },
      spec: {
        ...{ group: 'example.com', scope: 'Namespaced', names },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    };
    expect(await outcome(admin().create(kinds.CustomResourceDefinition, definition))).toBe('denied');
  });

  test('lets everything be deleted', async () => {
    expect(await outcome(admin().delete(kinds.ConfigMap, inDefault('more')))).toBe('done');
    expect(await admin().get(kinds.ConfigMap, inDefault('more'))).toBeUndefined();
  });

  test('lets finalizers of a deleted object be removed, and nothing else be changed with them', async () => {
    const patch = (name: string, metadata: object, more: object = {}): Promise<string> =>
      outcome(admin().patch(kinds.ConfigMap, inDefault(name), merge({ metadata, ...more })));
    expect(await patch('held', { finalizers: ['example.com/two'] })).toBe('done');
    expect(await patch('held', { finalizers: null })).toBe('done');
    expect(await admin().get(kinds.ConfigMap, inDefault('held'))).toBeUndefined();
    const less = { finalizers: ['example.com/two'] };
    expect(await patch('filled', less, { data: { a: 'x'.repeat(1000) } })).toBe('denied');
    expect(await patch('filled', less, { data: { b: 'x' } })).toBe('denied');
    expect(await patch('filled', { ...less, annotations: { a: 'x' } })).toBe('denied');
    expect(await patch('filled', { ...less, labels: { a: 'x' } })).toBe('denied');
    expect(await patch('there', { finalizers: [] }, { data: { a: 'c' } })).toBe('denied');
  });

  test('lets controllers finish deletions', async () => {
    const collected = inDefault('collected');
    const body = merge({ metadata: { finalizers: null } });
    expect(await outcome(as(collector).patch(kinds.ConfigMap, collected, body))).toBe('done');
    expect(await admin().get(kinds.ConfigMap, collected)).toBeUndefined();
  });

  test('lets the last finalizer of a deleted Namespace be removed, but none be left or added', async () => {
    expect(await finalize('leaving', [])).toBe('denied');
    expect(await outcome(admin().delete(kinds.Namespace, { name: 'leaving' }))).toBe('done');
    expect(await finalize('leaving', ['kubernetes'])).toBe('denied');
    expect(await finalize('leaving', ['kubernetes', 'example.com/large'])).toBe('denied');
    expect(await finalize('leaving', [], { a: 'x'.repeat(1000) })).toBe('denied');
    expect(await finalize('leaving', [])).toBe('done');
    expect(await admin().get(kinds.Namespace, { name: 'leaving' })).toBeUndefined();
  });

  test('lets leaders and nodes renew their leases, and no more data be stored in them', async () => {
    const renewed = merge({ spec: { holderIdentity: 'b' } });
    const [leader, own] = [
      { namespace: 'kube-system', name: 'kube-controller-manager' },
      { namespace: 'kube-node-lease', name: 'one' },
    ];
    expect(await outcome(as('system:kube-controller-manager').patch(kinds.Lease, leader, renewed))).toBe('done');
    expect(await outcome(as('system:node:one').patch(kinds.Lease, own, renewed))).toBe('done');
    expect(await outcome(as('system:node:one').create(kinds.Lease, lease('two', 'kube-node-lease')))).toBe('done');
    expect(await outcome(admin().patch(kinds.Lease, inDefault('leader'), renewed))).toBe('done');
    const long = merge({ spec: { holderIdentity: 'b'.repeat(513) } });
    expect(await outcome(admin().patch(kinds.Lease, inDefault('leader'), long))).toBe('denied');
    expect(await outcome(admin().patch(kinds.Lease, inDefault('leader'), label))).toBe('denied');
    expect(await outcome(admin().create(kinds.Lease, lease('new', 'default')))).toBe('denied');
  });

  test('lets nodes report their state', async () => {
    const status = merge({ status: { nodeInfo: { kubeletVersion: 'v1' } } });
    const patch = (client: Cluster): Promise<string> =>
      outcome(client.patch(kinds.Node, { name: 'one' }, status, { subresource: 'status' }));
    expect(await patch(as('system:node:one'))).toBe('done');
    expect(await patch(admin())).toBe('denied');
  });

  test('lets pods be bound and evicted, and workloads be scaled', async () => {
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: inDefault('bound') };
    const target = { apiVersion: 'v1', kind: 'Node', name: 'one' };
    const bind = as('system:kube-scheduler').create(subresource('pods/bound/binding', 'Binding'), {
      ...binding,
      target,
    });
    expect(await outcome(bind)).toBe('done');
    const other = { ...binding, metadata: inDefault('evicted'), target } as Manifest;
    expect(await outcome(admin().create(subresource('pods/evicted/binding', 'Binding'), other))).toBe('denied');
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: inDefault('evicted') };
    expect(await outcome(admin().create(subresource('pods/evicted/eviction', 'Eviction'), eviction))).toBe('done');
    expect(await admin().get(kinds.Pod, inDefault('evicted'))).toBeUndefined();
    const scale = merge({ spec: { replicas: 0 } });
    const deployment = inDefault('one');
    expect(await outcome(admin().patch(kinds.Deployment, deployment, scale, { subresource: 'scale' }))).toBe('done');
    expect((await admin().get(kinds.Deployment, deployment))?.spec?.replicas).toBe(0);
    expect(await outcome(admin().patch(kinds.Deployment, deployment, label))).toBe('denied');
  });

  test('lets clients authenticate', async () => {
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: { name: '' } };
    const reviews = { ...kinds.Node, plural: 'selfsubjectreviews', kind: review.kind, group: 'authentication.k8s.io' };
    expect(await outcome(admin().create<Resource>(reviews, review))).toBe('done');
    const token = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: inDefault('default') };
    const tokens = subresource('serviceaccounts/default/token', 'TokenRequest');
    expect(await outcome(admin().create(tokens, { ...token, spec: { audiences: ['a'] } }))).toBe('done');
  });

  test('denies scaling and renewals of leases as well once it is overdrawn, but not to nodes and the control plane', async () => {
    const status = {
      hard: { writesPerSecond: 100 },
      blocked: true,
      reached: ['writesPerSecond'],
      overdrawn: true,
    } as const;
    const [policy] = quotaManifests({ ...decision, status });
    if (policy === undefined) throw new Error('there is no policy');
    await applyExactly(admin(), { kind: policyKind, manifest: policy }, { fieldManager: 'test' });
    const renewed = merge({ spec: { holderIdentity: 'c' } });
    while ((await outcome(admin().patch(kinds.Lease, inDefault('leader'), renewed))) === 'done');
    await expect(admin().patch(kinds.Lease, inDefault('leader'), renewed)).rejects.toThrow(
      /quota \(100 writes a second\): write less often and try again in a minute, or ask/,
    );
    const scale = merge({ spec: { replicas: 2 } });
    const scaling = admin().patch(kinds.Deployment, inDefault('one'), scale, { subresource: 'scale' });
    expect(await outcome(scaling)).toBe('denied');
    const [leader, own] = [
      { namespace: 'kube-system', name: 'kube-controller-manager' },
      { namespace: 'kube-node-lease', name: 'one' },
    ];
    expect(await outcome(as('system:kube-controller-manager').patch(kinds.Lease, leader, renewed))).toBe('done');
    expect(await outcome(as('system:node:one').patch(kinds.Lease, own, renewed))).toBe('done');
    expect(await outcome(admin().delete(kinds.ConfigMap, inDefault('there')))).toBe('done');
  });

  test('lets the policy be removed, after which writes are allowed', async () => {
    await admin().delete(bindingKind, { name: quotaPolicy });
    await admin().delete(policyKind, { name: quotaPolicy });
    const probe = (): Promise<unknown> => admin().create(kinds.ConfigMap, configMap('probe'), { dryRun: true });
    while ((await outcome(probe())) === 'denied');
    expect(await outcome(admin().create(kinds.ConfigMap, configMap('new')))).toBe('done');
  });
});

test('an answer other than a denial is not taken for one', () => {
  expect(isDenied(String(new ApiError(403, 'Forbidden', 'a quota was exceeded')))).toBe(false);
});
