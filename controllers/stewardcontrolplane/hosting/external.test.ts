import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { conditionTable, isReasonOf } from '../../../api/conditions.ts';
import { deleteForMoveAnnotation } from '../../../api/cluster-api/names.ts';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Draft } from '../../../api/meta.ts';
import { annotations, finalizers } from '../../../api/names.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ApiError, UnreachableError } from '../../../runtime/client/errors.ts';
import { externalKey, hostingNamespace, kubeconfigFor } from '../../../testing/builders/external-objects.ts';
import { CrashError } from '../../../testing/fake/fake-faults.ts';
import { ExternalWorld, hostingCluster, serve, tenantOf, tenantsOf } from '../../../testing/worlds/external-world.ts';
import type { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import type { Call } from '../../../testing/fake/fake-faults.ts';
import { claimHash, readClaim } from './claim.ts';
import { hostingAccess } from './hosting-access.ts';

const claimSecret = { namespace: externalKey.namespace, name: 'blue-external-claim' };
const gone = new UnreachableError('https://there:6443 does not answer (ECONNREFUSED)');

let there: FakeCluster;
let world: ExternalWorld;

beforeEach(async () => {
  there = await hostingCluster();
  world = new ExternalWorld(there);
});
afterEach(async () => {
  await world.clusters.close();
  const scp = await world.here.admin.get(stewardControlPlane, externalKey);
  const unlisted = (scp?.status?.conditions ?? []).filter(({ type, reason }) => {
    const known = type as keyof typeof conditionTable.StewardControlPlane;
    return !isReasonOf('StewardControlPlane', known, reason);
  });
  expect(unlisted).toEqual([]);
});

const found = () => world.condition('FoundExternalReferenceClient');
const created = () => world.condition('TenantControlPlaneCreated');

/** Seeded, made, serving, and visited until its status says so. */
async function serving(): Promise<void> {
  await world.seed();
  await world.reconcile();
  await serve(there);
  await world.reconcile();
  await world.reconcile();
}

const whileAway = async <T>(work: () => Promise<T>): Promise<T> => {
  const end = there.before(() => {
    throw gone;
  });
  try {
    return await work();
  } finally {
    end();
  }
};

describe('A control plane in another cluster', () => {
  test('is created there with a name from its UID and the marks of its owner, and nothing is created here', async () => {
    await world.seed();
    await world.reconcile();
    const { metadata, spec } = await tenantOf(there);
    const scp = await world.scp();
    expect(metadata.name).toBe(`kcp-${scp.metadata.uid}`);
    expect(metadata.annotations).toMatchObject({ [annotations.externalHolder]: scp.metadata.uid });
    expect(metadata.ownerReferences).toBeUndefined();
    expect(spec.kubernetes.version).toBe('v1.36.3');
    expect((await world.here.admin.list(tenantControlPlane)).items).toEqual([]);
    expect(await found()).toMatchObject({ status: 'True' });
    expect(await created()).toMatchObject({ status: 'True' });
  });

  test('has its status, endpoint and Secrets copied, and a second reconcile writes nothing', async () => {
    await serving();
    const scp = await world.scp();
    expect(scp.spec.controlPlaneEndpoint).toEqual({ host: '192.0.2.7', port: 6443 });
    expect(scp.status).toMatchObject({ ready: true, initialized: true, replicas: 2, version: 'v1.36.3' });
    const kubeconfig = await world.here.admin.get(kinds.Secret, { ...externalKey, name: 'blue-kubeconfig' });
    expect(Buffer.from(kubeconfig?.data?.value ?? '', 'base64').toString()).toBe('kubeconfig-of-the-tenant');
    const ca = await world.here.admin.get(kinds.Secret, { ...externalKey, name: 'blue-ca' });
    expect(ca?.data).toMatchObject({ 'tls.crt': expect.any(String), 'tls.key': expect.any(String) });
    const before = [await world.scp(), await tenantOf(there)].map(({ metadata }) => metadata.resourceVersion);
    const claim = await world.here.admin.get(kinds.Secret, claimSecret);
    await world.reconcile();
    expect([await world.scp(), await tenantOf(there)].map(({ metadata }) => metadata.resourceVersion)).toEqual(before);
    expect(await world.here.admin.get(kinds.Secret, claimSecret)).toEqual(claim);
  });

  test('has the kubeconfig with its advertised address, because a Service of the other cluster cannot be reached here', async () => {
    await serving();
    const body = { spec: { network: { advertiseAddress: '192.0.2.7' } } };
    await world.here.admin.patch(stewardControlPlane, externalKey, { type: 'merge', body });
    const inside = { 'admin.conf': 'b3V0c2lkZQ==', 'admin.svc': 'aW5zaWRl' };
    const secret = {
      namespace: hostingNamespace,
      name: `${(await tenantOf(there)).metadata.name}-admin-kubeconfig`,
    };
    await there.admin.patch(kinds.Secret, secret, { type: 'merge', body: { data: inside } });
    await world.reconcile();
    const kubeconfig = await world.here.admin.get(kinds.Secret, { ...externalKey, name: 'blue-kubeconfig' });
    expect(kubeconfig?.data?.value).toBe('b3V0c2lkZQ==');
  });

  test('is refused without the feature gate, with a condition that names the gate', async () => {
    await world.clusters.close();
    world = new ExternalWorld(there, { enabled: false });
    await world.seed();
    await world.reconcile();
    expect(await found()).toMatchObject({ status: 'False', reason: 'Disabled' });
    expect((await found())?.message).toContain('ExternalClusterReference=true');
    expect(await tenantsOf(there)).toEqual([]);
  });

  test('needs another feature gate for a kubeconfig in another namespace', async () => {
    await world.seed({ reference: { kubeconfigSecretNamespace: 'other' } });
    const read = (): number =>
      world.here.calls.filter(({ verb, namespace }) => verb === 'get' && namespace === 'other').length;
    await world.reconcile();
    expect(await found()).toMatchObject({ status: 'False', reason: 'Disabled' });
    expect((await found())?.message).toContain('ExternalClusterReferenceCrossNamespace=true');
    expect(read()).toBe(0);
  });

  test('reads the kubeconfig from another namespace with that gate', async () => {
    await world.clusters.close();
    world = new ExternalWorld(there, { crossNamespace: true });
    await world.seed({ reference: { kubeconfigSecretNamespace: 'other' } });
    const text = Buffer.from(kubeconfigFor('https://there:6443', { credentials: { token: 't' } })).toString('base64');
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'other', name: 'hosting' } };
    await world.here.seed(kinds.Secret, { ...secret, data: { kubeconfig: text } });
    // The one of its own namespace would do, too.
    await world.here.admin.delete(kinds.Secret, { namespace: externalKey.namespace, name: 'hosting' });
    await world.reconcile();
    expect(await found()).toMatchObject({ status: 'True' });
  });
});

describe('The kubeconfig', () => {
  test.each([
    ['a credential plugin', { exec: { command: '/bin/sh' } }, 'exec'],
    ['an auth provider', { 'auth-provider': { name: 'gcp' } }, 'auth-provider'],
    ['a file with a token', { tokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token' }, 'tokenFile'],
    ['a file with a certificate', { 'client-certificate': '/tls.crt', 'client-key': '/tls.key' }, 'client-certificate'],
    ['impersonation', { as: 'system:admin' }, 'as'],
  ])('with %s is refused and opens no connection', async (_, user, named) => {
    await world.seed();
    await world.setKubeconfig(kubeconfigFor('https://there:6443', { credentials: { token: 't0ken' }, user }));
    await world.reconcile();
    expect(await found()).toMatchObject({ status: 'False', reason: 'SecretInvalid' });
    expect((await found())?.message).toContain(named);
    expect((await found())?.message).not.toContain('t0ken');
    expect(world.opened).toEqual([]);
  });

  test('that is missing, or has no such key, is reported; nothing is tried', async () => {
    await world.seed();
    await world.here.admin.delete(kinds.Secret, { namespace: externalKey.namespace, name: 'hosting' });
    await world.reconcile();
    expect(await found()).toMatchObject({ reason: 'SecretInvalid', message: 'Secret fleet/hosting does not exist' });
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'fleet', name: 'hosting' } };
    await world.here.seed(kinds.Secret, { ...secret, data: { config: 'YQ==' } });
    await world.reconcile();
    expect((await found())?.message).toContain('no key kubeconfig; its keys are: config');
  });

  test('that changes causes a reconcile at once, and new credentials another connection; the old one is closed', async () => {
    await serving();
    expect(world.opened).toHaveLength(1);
    const enqueue = world.nextEnqueue();
    await world.setKubeconfig(kubeconfigFor('https://there:6443', { credentials: { token: 'second' } }));
    expect(await enqueue).toBe('blue');
    await world.reconcile();
    expect(world.opened.map(({ token }) => token)).toEqual(['first', 'second']);
    expect(world.closed.map(({ token }) => token)).toEqual(['first']);
    expect(world.clusters.size).toEqual({ clients: 1, watches: 2 });
  });

  test('of a different cluster is refused: nothing is created there, nothing is deleted', async () => {
    await serving();
    const elsewhere = await hostingCluster();
    world.servers.set('https://elsewhere:6443', elsewhere);
    await world.setKubeconfig(kubeconfigFor('https://elsewhere:6443', { credentials: { token: 'x' } }));
    await world.reconcile();
    expect(await found()).toMatchObject({ status: 'False', reason: 'ClusterChanged' });
    expect(await tenantsOf(elsewhere)).toEqual([]);
    expect(await world.lastReconcile()).toMatchObject({ finished: false });
    expect(await tenantsOf(there)).toHaveLength(1);
  });
});

describe('The other cluster', () => {
  test('is retried with growing delays while it does not answer, and the last known status stays', async () => {
    await serving();
    const { status: before } = await world.scp();
    const calls = (): number => there.calls.length;
    await whileAway(async () => {
      const first = await world.reconcile();
      expect(first.error).toBeUndefined();
      const asked = calls();
      await world.reconcile();
      expect(calls()).toBe(asked);
      await world.clock.advance(first.afterMs ?? 0);
      const second = await world.reconcile();
      expect(calls()).toBe(asked + 1);
      expect(second.afterMs).toBeGreaterThan(first.afterMs ?? 0);
    });
    const { status } = await world.scp();
    for (const field of ['replicas', 'readyReplicas', 'version', 'versions', 'ready', 'initialized'] as const)
      expect([field, status?.[field]]).toEqual([field, before?.[field]]);
    expect(await found()).toMatchObject({ status: 'False', reason: 'Unreachable' });
    expect(await world.condition('Available')).toMatchObject({ status: 'Unknown', reason: 'AvailableUnknown' });
    await world.clock.advance(60_000);
    await world.reconcile();
    expect(await world.condition('Available')).toMatchObject({ status: 'True' });
  });

  test('is reported as without a control plane if it has never answered', async () => {
    await world.seed();
    await whileAway(() => world.reconcile());
    expect(await found()).toMatchObject({ status: 'False', reason: 'Unreachable' });
    expect(await world.condition('Available')).toMatchObject({ status: 'False' });
  });

  test('is reported if it has no Steward, and the reconcile is not an error', async () => {
    there.failNext({ verb: 'apply', kind: 'TenantControlPlane' }, new ApiError(404, 'NotFound', 'no such resource'));
    await world.seed();
    const { error, afterMs } = await world.reconcile();
    expect(error).toBeUndefined();
    expect(afterMs).toBe(30_000);
    expect(await created()).toMatchObject({ status: 'False', reason: 'ApiMissing' });
  });

  test.each([
    [401, 'Unauthorized', 'renew the kubeconfig'],
    [403, 'Forbidden', 'config/hosting/role.yaml'],
  ])('is reported with the fix if it answers %d', async (code, reason, help) => {
    there.failNext({ kind: 'Namespace' }, new ApiError(code, reason, 'no'));
    await world.seed();
    await world.reconcile();
    expect(await found()).toMatchObject({ status: 'False', reason: 'Forbidden' });
    expect((await found())?.message).toContain(help);
  });

  test('gets nothing if its namespace is missing or being deleted', async () => {
    await there.admin.delete(kinds.Namespace, { name: hostingNamespace });
    await world.seed();
    await world.reconcile();
    expect(await found()).toMatchObject({ status: 'False', reason: 'NamespaceMissing' });
    const metadata = { name: hostingNamespace, finalizers: ['example.com/holds'] };
    await there.seed(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata });
    await there.admin.delete(kinds.Namespace, { name: hostingNamespace });
    await world.reconcile();
    expect(await found()).toMatchObject({ status: 'False', reason: 'NamespaceTerminating' });
    expect(await tenantsOf(there)).toEqual([]);
  });

  test('gets a deleted control plane again, and an Event says what is lost', async () => {
    await serving();
    const { name } = (await tenantOf(there)).metadata;
    await there.admin.delete(tenantControlPlane, { namespace: hostingNamespace, name });
    await world.reconcile();
    expect((await tenantOf(there)).metadata.name).toBe(name);
    expect(world.events).toContain('TenantControlPlaneLost');
  });
});

describe('The owner of the control plane in the other cluster', () => {
  const foreign = async (marks: Readonly<Record<string, string>> = {}): Promise<void> => {
    await world.seed();
    const name = `kcp-${(await world.scp()).metadata.uid}`;
    await there.seed(tenantControlPlane, {
      apiVersion: 'steward.butlerlabs.dev/v1alpha1',
      kind: 'TenantControlPlane',
      metadata: { namespace: hostingNamespace, name, annotations: marks },
      spec: { controlPlane: { service: { serviceType: 'ClusterIP' } }, kubernetes: { version: 'v1.30.0' } },
    });
  };

  test.each([
    ['no marks', {}],
    ['marks of another owner', { [annotations.externalHolder]: 'x', [annotations.externalClaim]: claimHash('guess') }],
  ])('does not change one of the same name with %s, also during deletion', async (_, marks) => {
    await foreign(marks);
    await world.reconcile();
    expect(await created()).toMatchObject({ status: 'False', reason: 'OwnedByAnother' });
    expect((await tenantOf(there)).spec.kubernetes.version).toBe('v1.30.0');
    expect(await world.lastReconcile()).toEqual({ finished: true });
    expect(await tenantsOf(there)).toHaveLength(1);
  });

  test('adopts one that a person there releases by the annotation in the message', async () => {
    await foreign({ [annotations.externalHolder]: 'x', [annotations.externalClaim]: claimHash('guess') });
    await world.reconcile();
    const [, name = '', value = ''] = /annotate it with (\S+)=(\S+)/.exec((await created())?.message ?? '') ?? [];
    const key = { namespace: hostingNamespace, name: (await tenantOf(there)).metadata.name };
    const body = { metadata: { annotations: { [name]: value } } };
    await there.admin.patch(tenantControlPlane, key, { type: 'merge', body });
    await world.reconcile();
    expect(await created()).toMatchObject({ status: 'True' });
    expect((await tenantOf(there)).spec.kubernetes.version).toBe('v1.36.3');
  });

  test('adopts one of the Go provider by the StewardControlPlane with its finalizer, which is removed in the end', async () => {
    await foreign();
    const body = { metadata: { finalizers: [finalizers.externalCluster] } };
    await world.here.admin.patch(stewardControlPlane, externalKey, { type: 'merge', body });
    await world.reconcile();
    expect(await created()).toMatchObject({ status: 'True' });
    expect(world.controller.formerFinalizers).toEqual([finalizers.externalCluster]);
  });

  test('does not write to one that a user creates in its place between reading and writing', async () => {
    await serving();
    const { apiVersion, kind, metadata, spec } = await tenantOf(there);
    const key = { namespace: hostingNamespace, name: metadata.name };
    const end = there.before(async ({ verb }) => {
      if (verb !== 'apply') return;
      end();
      await there.admin.delete(tenantControlPlane, key);
      const another = { apiVersion, kind, metadata: { ...key, labels: { of: 'another' } }, spec };
      await there.seed(tenantControlPlane, another);
    });
    await world.reconcile();
    expect((await tenantOf(there)).metadata.annotations).toBeUndefined();
    await world.reconcile();
    expect(await created()).toMatchObject({ status: 'False', reason: 'OwnedByAnother' });
  });

  test('passes on annotations except those about its own move and deletion', async () => {
    await serving();
    await world.annotate({
      'clusterctl.cluster.x-k8s.io/any': '',
      [annotations.abandonExternal]: 'no',
      'a.com/b': 'c',
    });
    await world.reconcile();
    const { annotations: handedDown = {} } = (await tenantOf(there)).metadata;
    expect(Object.keys(handedDown).sort()).toEqual(
      ['a.com/b', annotations.externalClaim, annotations.externalHolder].sort(),
    );
  });

  test('creates a lost claim again for a control plane that belongs to it', async () => {
    await serving();
    await world.here.admin.delete(kinds.Secret, claimSecret);
    const { uid } = (await tenantOf(there)).metadata;
    await world.reconcile();
    expect(await created()).toMatchObject({ status: 'True' });
    expect((await tenantOf(there)).metadata.uid).toBe(uid);
    expect(await world.here.admin.get(kinds.Secret, claimSecret)).toBeDefined();
  });

  test('owns the claim again after its owner reference was removed, and does not change a Secret of another owner', async () => {
    await serving();
    const body = { metadata: { ownerReferences: null, labels: null } };
    await world.here.admin.patch(kinds.Secret, claimSecret, { type: 'merge', body });
    await world.reconcile();
    const scp = await world.scp();
    const secret = await world.here.admin.get(kinds.Secret, claimSecret);
    expect(secret?.metadata.ownerReferences).toMatchObject([{ uid: scp.metadata.uid }]);
    await world.here.admin.delete(kinds.Secret, claimSecret);
    await world.here.seed(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata: claimSecret });
    await world.reconcile();
    expect(await created()).toMatchObject({ status: 'False', reason: 'OwnedByAnother' });
  });
});

describe('A StewardControlPlane that was moved to another management cluster', () => {
  /** What clusterctl takes along: spec and metadata of what the Cluster owns, no status, and a new UID. */
  const moved = async (withClaim = true): Promise<ExternalWorld> => {
    const target = new ExternalWorld(there);
    await target.seed();
    const claim = await world.here.admin.get(kinds.Secret, claimSecret);
    const { uid } = (await target.scp()).metadata;
    const owner = { apiVersion: 'x/v1', kind: 'StewardControlPlane', name: 'blue', uid };
    const metadata = { ...claimSecret, ownerReferences: [owner] };
    if (withClaim) await target.here.seed(kinds.Secret, { ...claim, metadata } as Draft);
    return target;
  };

  test('adopts the same control plane, and gets its status again', async () => {
    await serving();
    const before = await tenantOf(there);
    const target = await moved();
    await target.reconcile();
    await target.reconcile();
    const after = await tenantOf(there);
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(after.metadata.annotations?.[annotations.externalHolder]).toBe((await target.scp()).metadata.uid);
    expect((await target.scp()).status).toMatchObject({ initialized: true, ready: true, version: 'v1.36.3' });
    await target.clusters.close();
  });

  test('does not adopt the control plane while it is paused during the move', async () => {
    await serving();
    const before = await tenantOf(there);
    const target = await moved();
    await target.annotate({ 'cluster.x-k8s.io/paused': '' });
    await target.reconcile();
    expect(await tenantOf(there)).toEqual(before);
    await target.clusters.close();
  });

  test('finds its control plane again if its claim is lost', async () => {
    await serving();
    const before = await tenantOf(there);
    const target = await moved();
    await target.reconcile();
    await target.here.admin.delete(kinds.Secret, claimSecret);
    await target.reconcile();
    expect((await tenantOf(there)).metadata.uid).toBe(before.metadata.uid);
    expect(await target.condition('TenantControlPlaneCreated')).toMatchObject({ status: 'True' });
    await target.clusters.close();
  });

  test('creates another control plane if it only has the same name, without the claim', async () => {
    await serving();
    const before = await tenantOf(there);
    const target = await moved(false);
    await target.reconcile();
    expect(await tenantsOf(there)).toHaveLength(2);
    const [same] = (await tenantsOf(there)).filter(({ metadata }) => metadata.uid === before.metadata.uid);
    expect(same).toEqual(before);
    await target.clusters.close();
  });

  test('is neither changed nor deleted by the previous management cluster', async () => {
    await serving();
    const target = await moved();
    await target.reconcile();
    const taken = await tenantOf(there);
    await world.reconcile();
    expect(await created()).toMatchObject({ status: 'False', reason: 'AdoptedByAnother' });
    expect(await world.lastReconcile()).toEqual({ finished: true });
    expect(await tenantOf(there)).toEqual(taken);
    expect(world.events).toContain('LeftAlone');
    await target.clusters.close();
  });

  test('keeps its control plane when clusterctl deletes the previous StewardControlPlane', async () => {
    await serving();
    const before = await tenantOf(there);
    // clusterctl pauses what it moves.
    await world.annotate({ [deleteForMoveAnnotation]: '', 'cluster.x-k8s.io/paused': '' });
    expect(await whileAway(() => world.lastReconcile())).toEqual({ finished: true });
    expect(await tenantOf(there)).toEqual(before);
  });

  test('pauses the control plane there while it is paused, and resumes it', async () => {
    await serving();
    await world.annotate({ 'cluster.x-k8s.io/paused': '' });
    await world.reconcile();
    expect((await tenantOf(there)).metadata.annotations).toHaveProperty([annotations.paused]);
    await world.annotate({ 'cluster.x-k8s.io/paused': null });
    await world.reconcile();
    expect((await tenantOf(there)).metadata.annotations).not.toHaveProperty([annotations.paused]);
  });

  test('is paused without waiting for the other cluster', async () => {
    await serving();
    await world.annotate({ 'cluster.x-k8s.io/paused': '' });
    await whileAway(() => world.reconcile());
    expect(await world.condition('Paused')).toMatchObject({ status: 'True', reason: 'Paused' });
    expect((await world.condition('Paused'))?.message).toContain('could not be paused');
  });
});

/** The verb of a right that a call needs, by the kind. */
const rightsOf = ({ verb, kind }: Call): readonly string[] =>
  (verb === 'apply' ? ['create', 'patch'] : [verb]).map((each) => `${each} ${kind?.plural ?? ''}`);

describe('A manager that dies', () => {
  test.each(['here', 'there'] as const)('after any call %s leaves what the next one completes', async (where) => {
    for (let calls = 1; calls <= 12; calls += 1) {
      there = await hostingCluster();
      await world.clusters.close();
      world = new ExternalWorld(there);
      await world.seed();
      const cluster = where === 'here' ? world.here : there;
      cluster.crashAfter(calls, { losesAnswer: calls % 2 === 0 });
      await world.reconcile().catch((error: unknown) => {
        if (!(error instanceof CrashError)) throw error;
      });
      cluster.restart();
      await world.reconcile();
      await world.reconcile();
      const claim = readClaim(await world.here.admin.get(kinds.Secret, claimSecret));
      const scp = await world.scp();
      expect([calls, (await tenantOf(there)).metadata.annotations]).toEqual([
        calls,
        {
          [annotations.externalClaim]: claimHash(claim?.proof ?? ''),
          [annotations.externalHolder]: scp.metadata.uid,
        },
      ]);
      expect(claim?.holder).toBe(scp.metadata.uid);
    }
  });
});

describe('The deletion of a control plane in another cluster', () => {
  test('uses, with all before it, each permission of the documented Role and no other', async () => {
    await serving();
    await world.lastReconcile();
    const documented = hostingAccess.flatMap(({ resources = [], verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
    );
    expect(new Set(there.calls.flatMap(rightsOf))).toEqual(new Set(documented));
  });

  test('confirms the deletion by annotation before it deletes, because deletions by users are refused', async () => {
    await serving();
    await world.lastReconcile();
    const wanted = there.calls.filter(({ verb }) => verb === 'patch' || verb === 'delete').slice(-2);
    expect(wanted.map(({ verb, kind }) => [verb, kind?.kind])).toEqual([
      ['patch', 'TenantControlPlane'],
      ['delete', 'TenantControlPlane'],
    ]);
  });

  test('waits until the control plane is gone there, and leaves no connection', async () => {
    await serving();
    const { name } = (await tenantOf(there)).metadata;
    const key = { namespace: hostingNamespace, name };
    const body = { metadata: { finalizers: ['finalizer.steward.butlerlabs.dev'] } };
    await there.admin.patch(tenantControlPlane, key, { type: 'merge', body });
    await world.annotate({ 'cluster.x-k8s.io/paused': '' });
    await world.reconcile();
    await world.annotate({ 'cluster.x-k8s.io/paused': null });
    expect(await world.lastReconcile()).toMatchObject({ finished: false });
    expect((await tenantOf(there)).metadata.deletionTimestamp).toBeDefined();
    expect((await tenantOf(there)).metadata.annotations).toHaveProperty([annotations.deleteAnyway], 'true');
    // A paused one would never be deleted.
    expect((await tenantOf(there)).metadata.annotations).not.toHaveProperty([annotations.paused]);
    expect(await world.condition('Deleting')).toMatchObject({ status: 'True', reason: 'Deleting' });
    await there.admin.patch(tenantControlPlane, key, { type: 'merge', body: { metadata: { finalizers: null } } });
    expect(await world.lastReconcile()).toEqual({ finished: true });
    expect(world.clusters.size).toEqual({ clients: 0, watches: 0 });
  });

  test('waits while admission there refuses the deletion, and does not advise to abandon the control plane', async () => {
    await serving();
    const why = 'admission webhook "x" denied the request: its data is being migrated to another DataStore';
    there.failNext({ verb: 'delete' }, new ApiError(403, 'Forbidden', why));
    expect(await world.lastReconcile()).toMatchObject({ finished: false, afterMs: expect.any(Number) });
    const message = (await world.condition('Deleting'))?.message ?? '';
    expect(message).toContain(why);
    expect(message).not.toContain(annotations.abandonExternal);
  });

  test('ends if the control plane is gone already', async () => {
    await serving();
    const { name } = (await tenantOf(there)).metadata;
    await there.admin.delete(tenantControlPlane, { namespace: hostingNamespace, name });
    expect(await world.lastReconcile()).toEqual({ finished: true });
  });

  test('ends at once if nothing was created, whatever is wrong with the reference', async () => {
    await world.seed();
    await world.setKubeconfig('no kubeconfig');
    await world.reconcile();
    expect(await world.lastReconcile()).toEqual({ finished: true });
  });

  test.each([
    ['does not answer', () => gone],
    ['does not know the kind anymore', () => new ApiError(404, 'NotFound', 'no such resource')],
    ['refuses', () => new ApiError(403, 'Forbidden', 'no')],
  ])('waits for a cluster that %s, until a person abandons it by the annotation in the message', async (_, error) => {
    await serving();
    there.failNext({ verb: 'list', kind: 'TenantControlPlane' }, error());
    expect(await world.lastReconcile()).toMatchObject({ finished: false, afterMs: expect.any(Number) });
    const message = (await world.condition('Deleting'))?.message ?? '';
    const [, name = '', value = ''] = /annotate this object with (\S+)=(\S+)/.exec(message) ?? [];
    expect(await tenantsOf(there)).toHaveLength(1);
    await world.annotate({ [name]: value });
    expect(await whileAway(() => world.lastReconcile())).toEqual({ finished: true });
    expect(world.events).toContain('Abandoned');
  });

  test('creates nothing here and loses nothing there if the reference was removed past admission', async () => {
    await serving();
    const body = { spec: { deployment: null } };
    await world.here.admin.patch(stewardControlPlane, externalKey, { type: 'merge', body });
    await world.reconcile();
    expect(await found()).toMatchObject({ status: 'False', reason: 'ReferenceRemoved' });
    expect((await world.here.admin.list(tenantControlPlane)).items).toEqual([]);
    expect(await world.lastReconcile()).toMatchObject({ finished: false });
    expect(await tenantsOf(there)).toHaveLength(1);
  });

  test('leaves a control plane in this cluster if the reference was removed before anything was created', async () => {
    await world.seed();
    await world.setKubeconfig('no kubeconfig');
    await world.reconcile();
    const body = { spec: { deployment: null } };
    await world.here.admin.patch(stewardControlPlane, externalKey, { type: 'merge', body });
    await world.reconcile();
    expect(await found()).toBeUndefined();
    expect((await world.here.admin.list(tenantControlPlane)).items).toHaveLength(1);
  });
});
