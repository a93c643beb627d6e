import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { capiCluster } from '../../../api/cluster-api/kinds.ts';
import { deleteForMoveAnnotation } from '../../../api/cluster-api/names.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { KindRef, Manifest, Resource } from '../../../api/meta.ts';
import { annotations } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { isTrue } from '../../../runtime/reconcile/conditions.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { openCluster } from '../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../runtime/client/kubeconfig.ts';
import type { ExternalManagement } from '../../../testing/worlds/external-management.ts';
import { adminOf, once, startExternalManagement } from '../../../testing/worlds/external-management.ts';
import {
  externalCluster,
  externalControlPlane,
  externalKey,
  hostingNamespace,
  kubeconfigFor,
  kubeconfigSecret,
  servingSecrets,
  servingStatus,
} from '../../../testing/builders/external-objects.ts';
import { installKinds } from '../../../testing/servers/install-kinds.ts';
import type { ApiServer } from '../../../testing/servers/api-server.ts';
import { startApiServer } from '../../../testing/servers/api-server.ts';

const claimKey = { namespace: externalKey.namespace, name: 'blue-external-claim' };
const held = 'example.com/holds';

let hosting: ApiServer;
let servers: readonly ApiServer[] = [];
let there: Cluster;
let source: ExternalManagement;
let target: ExternalManagement | undefined;

beforeAll(async () => {
  servers = await Promise.all([startApiServer(), startApiServer(), startApiServer()]);
  const [first, second] = servers;
  if (first === undefined || second === undefined) throw new Error('they have started');
  hosting = first;
  there = adminOf(hosting);
  await there.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: hostingNamespace } });
  const role = await readFile(join(import.meta.dirname, '../../../config/hosting/role.yaml'), 'utf8');
  await apply(there, kinds.ClusterRole, parse(role) as Manifest);
  await bindTo('first');
  source = await startExternalManagement(second);
}, 300_000);

afterAll(async () => {
  await source[Symbol.asyncDispose]();
  await target?.[Symbol.asyncDispose]();
  await there.close();
  await Promise.all(servers.map((server) => server.stop()));
});

const apply = (cluster: Cluster, kind: KindRef, manifest: Manifest): Promise<Resource> =>
  cluster.apply(kind, manifest, { fieldManager: 'test' });

/** Only this user has the documented permissions, in the one namespace. */
const bindTo = (user: string): Promise<Resource> =>
  apply(there, kinds.RoleBinding, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { namespace: hostingNamespace, name: 'steward-hosting' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'steward-hosting-role' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  });

const kubeconfigOf = async (user: string): Promise<string> => {
  const { certificate, key } = await hosting.clientPair(user);
  return kubeconfigFor(hosting.url, { ca: hosting.ca, credentials: { certificate, key } });
};

const scpWhen = (cluster: Cluster, is: (scp: StewardControlPlane) => boolean): Promise<StewardControlPlane> =>
  once(cluster, stewardControlPlane, { key: externalKey, is: (scp) => scp !== undefined && is(scp) }).then(must);

const conditionOf = (scp: StewardControlPlane, type: string) =>
  scp.status?.conditions?.find((condition) => condition.type === type);

const tenant = async (): Promise<TenantControlPlane> => {
  const { items } = await there.list(tenantControlPlane, { namespace: hostingNamespace });
  expect(items).toHaveLength(1);
  return must(items[0]);
};

function must<T>(found: T | undefined): T {
  if (found === undefined) throw new Error('it is not there');
  return found;
}

const annotate = (cluster: Cluster, marks: Readonly<Record<string, string | null>>): Promise<Resource> => {
  const body = { metadata: { annotations: marks } };
  return cluster.patch(stewardControlPlane, externalKey, { type: 'merge', body });
};

/** What the controller of the hosting cluster would do: status, Secrets, and a finalizer of its own. */
async function serve(content?: string): Promise<void> {
  const { name } = (await tenant()).metadata;
  const key = { namespace: hostingNamespace, name };
  for (const secret of servingSecrets(name, content)) await apply(there, kinds.Secret, secret);
  const finalizers = { metadata: { finalizers: [held] } };
  await there.patch(tenantControlPlane, key, { type: 'merge', body: finalizers });
  const body = { status: servingStatus(name) };
  await there.patch(tenantControlPlane, key, { type: 'merge', body }, { subresource: 'status' });
}

describe('Two real management clusters and a real hosting cluster', () => {
  test('report a hosting cluster without Steward', async () => {
    const { admin } = source;
    await apply(admin, kinds.Secret, kubeconfigSecret(await kubeconfigOf('first')));
    await apply(admin, capiCluster, externalCluster());
    await apply(admin, stewardControlPlane, externalControlPlane());
    const scp = await scpWhen(admin, (one) => conditionOf(one, 'TenantControlPlaneCreated')?.status === 'False');
    expect(conditionOf(scp, 'TenantControlPlaneCreated')).toMatchObject({ reason: 'ApiMissing' });
    expect(isTrue(scp.status?.conditions, 'FoundExternalReferenceClient')).toBe(true);
  }, 60_000);

  test('create the control plane with the documented Role, follow its status by a watch, and copy its Secrets', async () => {
    const { admin } = source;
    await installKinds(there, [tenantControlPlane]);
    await annotate(admin, { 'example.com/look': 'again' });
    await scpWhen(admin, (scp) => isTrue(scp.status?.conditions, 'TenantControlPlaneCreated'));
    await serve();
    const scp = await scpWhen(admin, ({ status }) => status?.ready === true && status.initialized === true);
    expect(scp.spec.controlPlaneEndpoint).toEqual({ host: '192.0.2.7', port: 6443 });
    const kubeconfig = must(await admin.get(kinds.Secret, { ...externalKey, name: 'blue-kubeconfig' }));
    expect(Buffer.from(kubeconfig.data?.value ?? '', 'base64').toString()).toBe('kubeconfig-of-the-tenant');
    expect((await tenant()).metadata.annotations).toMatchObject({ [annotations.externalHolder]: scp.metadata.uid });
  }, 60_000);

  test('cannot do anything else: no list of Secrets, nothing in other namespaces, nothing cluster-scoped', async () => {
    const user = openCluster(parseKubeconfig(await kubeconfigOf('first')), { name: 'external' });
    try {
      const denied = [
        () => user.list(kinds.Secret, { namespace: hostingNamespace }),
        () => user.list(tenantControlPlane),
        () => user.list(tenantControlPlane, { namespace: 'default' }),
        () => user.get(kinds.Secret, { namespace: 'default', name: 'any' }),
        () => user.get(kinds.Namespace, { name: 'default' }),
        () => user.get(kinds.Pod, { namespace: hostingNamespace, name: 'any' }),
      ];
      for (const call of denied) await expect(call()).rejects.toMatchObject({ code: 403 });
    } finally {
      await user.close();
    }
  }, 60_000);

  test('write nothing in either cluster while nothing changes', async () => {
    const { admin } = source;
    const states = async () => [
      (await tenant()).metadata.resourceVersion,
      (await admin.get(kinds.Secret, claimKey))?.metadata.resourceVersion,
      (await admin.get(kinds.Secret, { ...externalKey, name: 'blue-kubeconfig' }))?.metadata.resourceVersion,
    ];
    const before = await states();
    const generation = 'example.com/visit';
    await annotate(admin, { [generation]: 'once more' });
    // The annotation is passed on, so that the reconcile leaves a trace there; afterwards everything is as before.
    const key = { namespace: hostingNamespace, name: (await tenant()).metadata.name };
    await once(there, tenantControlPlane, {
      key,
      is: (one) => one?.metadata.annotations?.[generation] === 'once more',
    });
    expect((await states()).slice(1)).toEqual(before.slice(1));
  }, 60_000);

  test('use a rotated kubeconfig of another user at once, while the old one is locked out', async () => {
    const { admin } = source;
    await bindTo('second');
    await annotate(admin, { 'example.com/visit': 'refused' });
    await scpWhen(admin, (scp) => conditionOf(scp, 'FoundExternalReferenceClient')?.reason === 'Forbidden');
    await apply(admin, kinds.Secret, kubeconfigSecret(await kubeconfigOf('second')));
    await scpWhen(admin, (scp) => isTrue(scp.status?.conditions, 'FoundExternalReferenceClient'));
  }, 60_000);

  test('keep the last status of a hosting cluster that is down, and follow its control plane when it is up again', async () => {
    const { admin } = source;
    const before = await scpWhen(admin, (scp) => isTrue(scp.status?.conditions, 'Available'));
    await hosting.kill();
    await annotate(admin, { 'example.com/visit': 'down' });
    const down = await scpWhen(admin, (scp) => conditionOf(scp, 'FoundExternalReferenceClient')?.status === 'False');
    expect(conditionOf(down, 'FoundExternalReferenceClient')).toMatchObject({ reason: 'Unreachable' });
    expect(conditionOf(down, 'Available')).toMatchObject({ status: 'Unknown' });
    expect(down.status).toMatchObject({ ready: true, replicas: 2, versions: before.status?.versions });
    await hosting.restart();
    await scpWhen(admin, (scp) => isTrue(scp.status?.conditions, 'Available'));
  }, 180_000);

  test('have the same control plane after a move to the other management cluster, and the first one did not change it', async () => {
    const { admin } = source;
    const before = await tenant();
    await admin.patch(capiCluster, externalKey, { type: 'merge', body: { spec: { paused: true } } });
    await scpWhen(admin, (scp) => isTrue(scp.status?.conditions, 'Paused'));
    expect((await tenant()).metadata.annotations).toHaveProperty([annotations.paused]);

    const other = must(servers[2]);
    target = await startExternalManagement(other);
    const claim = must(await admin.get(kinds.Secret, claimKey));
    await apply(target.admin, kinds.Secret, kubeconfigSecret(await kubeconfigOf('second')));
    await apply(target.admin, capiCluster, externalCluster({ paused: true }));
    const scp = await scpWhen(admin, () => true);
    const manifest = externalControlPlane();
    const moved = { ...manifest, spec: scp.spec } as Manifest;
    const { uid } = (await apply(target.admin, stewardControlPlane, moved)).metadata;
    const owner = { apiVersion: scp.apiVersion, kind: scp.kind, name: externalKey.name, uid };
    await apply(target.admin, kinds.Secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...claimKey, ownerReferences: [owner] },
      data: claim.data,
    });
    await annotate(admin, { [deleteForMoveAnnotation]: '' });
    await admin.patch(stewardControlPlane, externalKey, { type: 'merge', body: { metadata: { finalizers: null } } });
    await admin.delete(stewardControlPlane, externalKey);
    await once(admin, stewardControlPlane, { key: externalKey, is: (one) => one === undefined });
    expect(await tenant()).toMatchObject({ metadata: { uid: before.metadata.uid } });
    expect((await tenant()).metadata.deletionTimestamp).toBeUndefined();

    await target.admin.patch(capiCluster, externalKey, { type: 'merge', body: { spec: { paused: false } } });
    const adopted = await scpWhen(target.admin, ({ status }) => status?.ready === true && status.initialized === true);
    expect(adopted.status).toMatchObject({ replicas: 2, version: 'v1.36.3' });
    const after = await tenant();
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(after.metadata.annotations).toMatchObject({ [annotations.externalHolder]: uid });
    expect(after.metadata.annotations).not.toHaveProperty([annotations.paused]);
  }, 120_000);

  test('wait for the control plane in the hosting cluster during deletion, and leave nothing', async () => {
    const { admin } = must(target);
    const { name } = (await tenant()).metadata;
    const key = { namespace: hostingNamespace, name };
    await admin.delete(stewardControlPlane, externalKey);
    const leaving = await scpWhen(admin, (scp) => conditionOf(scp, 'Deleting')?.status === 'True');
    expect(conditionOf(leaving, 'Deleting')?.message).toContain(name);
    await once(there, tenantControlPlane, { key, is: (one) => one?.metadata.deletionTimestamp !== undefined });
    await there.patch(tenantControlPlane, key, { type: 'merge', body: { metadata: { finalizers: null } } });
    await once(admin, stewardControlPlane, { key: externalKey, is: (one) => one === undefined });
    expect((await there.list(tenantControlPlane, { namespace: hostingNamespace })).items).toEqual([]);
  }, 60_000);
});
