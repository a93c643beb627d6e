import { describe, expect, test } from '@jest/globals';

import { capiCluster } from '../api/cluster-api/kinds.ts';
import { stewardControlPlane } from '../api/controlplane/steward-control-plane.ts';
import { kinds } from '../api/core/kinds.ts';
import type { Secret } from '../api/core/kinds.ts';
import type { KindRef, Manifest, Resource } from '../api/meta.ts';
import { retainedControlPlane } from '../api/steward/v1alpha1/retained-control-plane.ts';
import { tenantControlPlane } from '../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../api/steward/v1alpha1/tenant-control-plane.ts';
import { omit } from '../testing/fake/stored-object.ts';
import { ReleaseWorld, key, recordKey } from '../testing/worlds/release-world.ts';
import { TenantWorld } from '../testing/worlds/tenant-world.ts';

const roots = ['ca', 'front-proxy-ca-certificate', 'sa-certificate'] as const;

/** What a person has saved of a control plane, as docs/how-to/back-up-the-management-cluster.md says. */
interface Saved {
  readonly tcp: TenantControlPlane;
  readonly secrets: readonly Secret[];
  readonly authorities: unknown;
}

/** The CAs and the key by which workers and users know the tenant. */
async function authoritiesOf(world: TenantWorld): Promise<unknown> {
  return Promise.all(roots.map(async (name) => (await world.secret(name))?.data));
}

async function save(world: TenantWorld): Promise<Saved> {
  const { items } = await world.cluster.admin.list(kinds.Secret, { namespace: key.namespace });
  const secrets = items.filter(({ metadata }) => metadata.labels?.['steward.butlerlabs.dev/project'] !== undefined);
  return { tcp: await world.read(), secrets, authorities: await authoritiesOf(world) };
}

/** Nothing is left of the objects, and nobody was asked to remove the data. */
async function lose({ cluster }: TenantWorld, lost: readonly KindRef[]): Promise<void> {
  const body = { metadata: { finalizers: null } };
  for (const kind of lost) await cluster.admin.patch(kind, key, { type: 'merge', body });
  for (const kind of lost)
    if ((await cluster.admin.get(kind, key)) !== undefined) await cluster.admin.delete(kind, key);
  const left = await cluster.admin.list(kinds.Secret, { namespace: key.namespace });
  expect(left.items.filter(({ metadata }) => metadata.name.startsWith(`${key.name}-`))).toEqual([]);
}

/** An object without what belongs to the cluster that it was in. */
function bare(object: Resource & { readonly status?: unknown }): Manifest {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace, labels, annotations } = metadata;
  return { ...omit(object, 'status'), apiVersion, kind, metadata: { name, namespace, labels, annotations } };
}

/** Creates the record of the data and the Secrets with CAs and keys again. */
async function restoreRecord({ cluster }: TenantWorld, { tcp, secrets }: Saved): Promise<void> {
  for (const secret of secrets) await cluster.seed(kinds.Secret, bare(secret));
  await cluster.seed(retainedControlPlane, {
    apiVersion: `${retainedControlPlane.group}/${retainedControlPlane.version}`,
    kind: retainedControlPlane.kind,
    metadata: recordKey,
    spec: { formerUID: tcp.metadata.uid, record: JSON.stringify({ spec: tcp.spec, status: tcp.status }) },
  });
}

const owners = (world: TenantWorld): readonly string[] => [...world.store.tenancies.values()].map(({ owner }) => owner);

describe('A control plane whose management cluster is lost while its datastore is not', () => {
  test('has its data, CAs and keys again once the restored record names it', async () => {
    const world = new TenantWorld();
    await world.create();
    await world.settle();
    const saved = await save(world);
    await lose(world, [tenantControlPlane]);
    world.restart();
    await restoreRecord(world, saved);
    const { metadata } = await world.cluster.seed(tenantControlPlane, bare(saved.tcp));
    await world.settle();
    expect(metadata.uid).not.toBe(saved.tcp.metadata.uid);
    expect(await world.condition('StoreReady')).toContain('AdoptingData');
    expect(await world.deployment()).toBeUndefined();
    const body = { spec: { adopterUID: metadata.uid } };
    await world.cluster.admin.patch(retainedControlPlane, recordKey, { type: 'merge', body });
    await world.settle();
    expect(await world.condition('Ready')).toBe('True');
    expect(await authoritiesOf(world)).toEqual(saved.authorities);
    expect(owners(world)).toEqual([saved.tcp.metadata.uid]);
    expect((await world.read()).status?.storage?.setup).toMatchObject({
      schema: saved.tcp.status?.storage?.setup?.schema,
      user: saved.tcp.status?.storage?.setup?.user,
    });
  });

  test('does not get its data by a restored status: that is refused, no pod starts, and its deletion leaves the data', async () => {
    const world = new TenantWorld();
    await world.create();
    await world.settle();
    const { tcp } = await save(world);
    await lose(world, [tenantControlPlane]);
    world.restart();
    await world.cluster.seed(tenantControlPlane, { ...bare(tcp), status: tcp.status });
    await world.settle();
    expect(await world.condition('StoreReady')).toContain('OwnedByAnother');
    expect(await world.deployment()).toBeUndefined();
    expect(owners(world)).toEqual([tcp.metadata.uid]);
    await world.cluster.admin.delete(tenantControlPlane, key);
    for (let reconciles = 0; reconciles < 10 && (await world.exists()); reconciles += 1) await world.reconcile();
    expect(await world.exists()).toBe(false);
    expect(owners(world)).toEqual([tcp.metadata.uid]);
  });

  test('waits below a Cluster until the record names the new StewardControlPlane, and has its data, CAs and keys then', async () => {
    const world = await ReleaseWorld.create();
    const { tenant } = world;
    const saved = await save(tenant);
    const { cluster } = tenant;
    const [scp, capi] = await Promise.all([world.retainer(), cluster.admin.get(capiCluster, key)]);
    if (scp === undefined || capi === undefined) throw new Error('the world has both');
    await lose(tenant, [tenantControlPlane, stewardControlPlane, capiCluster]);
    world.restart();
    await restoreRecord(tenant, saved);
    const { metadata } = await cluster.seed(capiCluster, bare(capi));
    const owner = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', name: key.name, uid: metadata.uid };
    const again = bare(scp);
    const restored = await cluster.seed(stewardControlPlane, {
      ...again,
      metadata: { ...again.metadata, ownerReferences: [owner] },
    });
    await world.settle();
    expect(await tenant.exists()).toBe(false);
    const waiting = (await world.retainer())?.status?.conditions?.find(
      ({ type }) => type === 'TenantControlPlaneCreated',
    );
    expect(waiting).toMatchObject({ status: 'False', reason: 'OwnedByAnother' });
    const body = { spec: { controllerUID: restored.metadata.uid } };
    await cluster.admin.patch(retainedControlPlane, recordKey, { type: 'merge', body });
    await world.settle();
    expect(await tenant.condition('Ready')).toBe('True');
    expect(await authoritiesOf(tenant)).toEqual(saved.authorities);
    expect(owners(tenant)).toEqual([saved.tcp.metadata.uid]);
    expect(await world.record()).toBeUndefined();
  });
});
