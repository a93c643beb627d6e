import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import type { KindRef, Manifest } from '../../../api/meta.ts';
import type { TenantControlPlaneSpec } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import { startApiServer } from '../../../testing/servers/api-server.ts';
import type { ApiServer } from '../../../testing/servers/api-server.ts';
import { createEarly } from '../../../testing/servers/users/create-early.ts';
import { UserClients } from '../../../testing/servers/users/user-clients.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { endpointKinds } from '../shared/tenant-kinds.ts';
import { kubernetesEndpoints } from './kubernetes-endpoints.ts';
import { writePermissionsManifests } from './write-permissions-policy.ts';

const { ValidatingAdmissionPolicy: policyKind, ValidatingAdmissionPolicyBinding: bindingKind } = kinds;

let server: ApiServer;
const users = new UserClients();
const client = (user: string): Cluster => users.as(user);

const configMap = (name: string, namespace = 'default'): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
});

const lease = (name: string, namespace: string): Manifest => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, namespace },
  spec: { holderIdentity: 'a' },
});

const isDenied = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 403 && error.message.includes('steward-write-permissions');

/** `done`, `denied` by the policy, or why it failed otherwise. */
const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (isDenied(error) ? 'denied' : String(error)),
  );

const merge = (body: unknown) => ({ type: 'merge', body }) as const;
const label = merge({ metadata: { labels: { a: 'b' } } });

/** Puts the policy in place and returns when the API server enforces it. */
async function limit(limits: NonNullable<TenantControlPlaneSpec['writePermissions']>): Promise<void> {
  const admin = client('kubernetes-admin');
  const manifests = writePermissionsManifests(tenantControlPlaneWith({ spec: { writePermissions: limits } }));
  for (const manifest of manifests) {
    const kind: KindRef = manifest.kind === policyKind.kind ? policyKind : bindingKind;
    await admin.apply(kind, manifest, { fieldManager: 'test' });
  }
  const probe = async (): Promise<string> => {
    const dryRun = { dryRun: true };
    if (limits.blockCreation === true) return outcome(admin.create(kinds.ConfigMap, configMap('probe'), dryRun));
    const key = { namespace: 'default', name: 'there' };
    return outcome(admin.patch(kinds.ConfigMap, key, label, dryRun));
  };
  while ((await probe()) !== 'denied');
}

async function lift(): Promise<void> {
  const admin = client('kubernetes-admin');
  const name = 'steward-write-permissions';
  await Promise.all([admin.delete(bindingKind, { name }), admin.delete(policyKind, { name })]);
  while ((await outcome(admin.create(kinds.ConfigMap, configMap('probe'), { dryRun: true }))) === 'denied');
}

beforeAll(async () => {
  server = await startApiServer({ rbac: false });
  const admin = await users.open(server, 'kubernetes-admin', ['system:masters']);
  await users.open(server, 'system:kube-controller-manager');
  await users.open(server, 'system:kube-scheduler');
  await users.open(server, 'system:node:one', ['system:nodes']);
  const made: readonly (readonly [KindRef, Manifest])[] = [
    [kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-node-lease' } }],
    [
      kinds.ServiceAccount,
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa', namespace: 'default' } },
    ],
    [kinds.Node, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'one' } }],
    [kinds.ConfigMap, configMap('there')],
    [kinds.ConfigMap, configMap('there', 'kube-system')],
    [kinds.Lease, lease('kube-controller-manager', 'kube-system')],
    [kinds.Lease, lease('one', 'kube-node-lease')],
  ];
  for (const [kind, manifest] of made) await createEarly(admin, kind, manifest);
}, 300_000);

afterAll(async () => {
  await users.close();
  await server.stop();
});

describe('Write permissions', () => {
  test('deny creations only, also in kube-system', async () => {
    await limit({ blockCreation: true, blockUpdate: false, blockDeletion: false });
    const admin = client('kubernetes-admin');
    expect(await outcome(admin.create(kinds.ConfigMap, configMap('new')))).toBe('denied');
    expect(await outcome(admin.create(kinds.ConfigMap, configMap('new', 'kube-system')))).toBe('denied');
    expect(await outcome(admin.patch(kinds.ConfigMap, { namespace: 'default', name: 'there' }, label))).toBe('done');
    expect(
      await outcome(client('system:kube-scheduler').create(kinds.Lease, lease('kube-scheduler', 'kube-system'))),
    ).toBe('done');
    expect(await outcome(admin.create(kinds.Lease, lease('mine', 'kube-system')))).toBe('denied');
    await lift();
  }, 60_000);

  test('let the manager update the Service kubernetes, which nobody else maintains', async () => {
    await limit({ blockCreation: true, blockUpdate: true, blockDeletion: true });
    const admin = client('kubernetes-admin');
    const at = { address: '192.0.2.7', port: 6443, host: '192.0.2.7', hostPort: 6443 };
    const there = kubernetesEndpoints({ tcp: tenantControlPlaneWith(), endpoint: at });
    const elsewhere = kubernetesEndpoints({ tcp: tenantControlPlaneWith(), endpoint: { ...at, address: '192.0.2.8' } });
    for (const manifest of [...there, ...elsewhere]) {
      const kind = endpointKinds.find((one) => one.kind === manifest.kind) ?? kinds.Endpoints;
      expect([manifest.kind, await outcome(admin.apply(kind, manifest, { fieldManager: 'test' }))]).toEqual([
        manifest.kind,
        'done',
      ]);
    }
    const [endpoints] = there;
    if (endpoints === undefined) throw new Error('nothing is made');
    for (const metadata of [
      { ...endpoints.metadata, name: 'other' },
      { ...endpoints.metadata, namespace: 'kube-system' },
    ]) {
      const other = { ...endpoints, metadata };
      expect(await outcome(admin.apply(kinds.Endpoints, other, { fieldManager: 'test' }))).toBe('denied');
    }
    await lift();
  }, 60_000);

  test('deny updates with their subresources, but neither leases nor heartbeats of the system', async () => {
    await limit({ blockCreation: false, blockUpdate: true, blockDeletion: false });
    const admin = client('kubernetes-admin');
    const node = client('system:node:one');
    const there = { namespace: 'default', name: 'there' };
    expect(await outcome(admin.patch(kinds.ConfigMap, there, label))).toBe('denied');
    expect(await outcome(admin.create(kinds.ConfigMap, configMap('new')))).toBe('done');
    expect(await outcome(admin.delete(kinds.ConfigMap, { namespace: 'default', name: 'new' }))).toBe('done');
    const status = merge({ status: { nodeInfo: { kubeletVersion: 'v1' } } });
    expect(await outcome(admin.patch(kinds.Node, { name: 'one' }, status, { subresource: 'status' }))).toBe('denied');
    expect(await outcome(node.patch(kinds.Node, { name: 'one' }, status, { subresource: 'status' }))).toBe('done');
    expect(await outcome(node.patch(kinds.Node, { name: 'one' }, label))).toBe('denied');
    const renewed = merge({ spec: { holderIdentity: 'b' } });
    const leader = { namespace: 'kube-system', name: 'kube-controller-manager' };
    expect(await outcome(client('system:kube-controller-manager').patch(kinds.Lease, leader, renewed))).toBe('done');
    expect(await outcome(admin.patch(kinds.Lease, leader, renewed))).toBe('denied');
    expect(await outcome(node.patch(kinds.Lease, { namespace: 'kube-node-lease', name: 'one' }, renewed))).toBe('done');
    await lift();
  }, 60_000);

  test('deny all three, name the policy, and can be lifted all the same', async () => {
    await limit({ blockCreation: true, blockUpdate: true, blockDeletion: true });
    const admin = client('kubernetes-admin');
    const there = { namespace: 'kube-system', name: 'there' };
    await expect(admin.delete(kinds.ConfigMap, there)).rejects.toThrow(
      /currently denies CREATE, UPDATE, DELETE \(spec\.writePermissions\): contact the operator/,
    );
    expect(await outcome(admin.list(kinds.ConfigMap))).toBe('done');
    await lift();
    expect(await outcome(admin.delete(kinds.ConfigMap, there))).toBe('done');
  }, 60_000);
});
