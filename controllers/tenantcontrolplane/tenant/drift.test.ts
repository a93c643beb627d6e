import { describe, expect, test } from '@jest/globals';
import { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { KindRef, Resource } from '../../../api/meta.ts';
import { labels } from '../../../api/names.ts';
import { TenantWatches } from '../../../tenants/tenant-watches.ts';
import { clusterLine } from '../../../testing/contracts/cluster-line.ts';
import { konnectivityAddon } from '../../../testing/builders/konnectivity-addon.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';
import { workerBootstrapAddon } from '../../../testing/builders/worker-bootstrap-addon.ts';
import { selectionInTenant } from '../shared/selection-in-tenant.ts';
import { endpointKinds, policyKinds, tenantKinds } from '../shared/tenant-kinds.ts';
import { recheckMs } from './tenant-access.ts';

const addons = {
  coreDNS: {},
  kubeProxy: {},
  konnectivity: konnectivityAddon(),
  workerBootstrap: workerBootstrapAddon({ autoApprove: false }),
  tcpProxy: {},
};

/** Long enough for a connection to be opened, and for events to be evaluated. In milliseconds. */
const secondsMs = 5_000;

type Row = readonly [name: string, kind: KindRef, object: Resource];

const watches = ({ clock, tenant }: TenantWorld): TenantWatches =>
  new TenantWatches({
    memory: new ObjectMemory(),
    clock,
    random: () => 0,
    select: selectionInTenant,
    open: () => clusterLine(tenant),
  });

/** A complete and watched tenant with every add-on. */
async function running(wanted: object = addons): Promise<TenantWorld> {
  const world = new TenantWorld({ watches });
  await world.create({ spec: { addons: wanted } });
  await world.settle();
  await world.clock.advance(secondsMs);
  await world.settle();
  await world.clock.advance(secondsMs);
  return world;
}

async function inside(world: TenantWorld): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const kind of new Set([...tenantKinds, ...policyKinds, ...endpointKinds, kinds.Secret])) {
    const { items } = await world.tenant.admin.list<Resource>(kind, selectionInTenant(kind));
    for (const item of items) {
      rows.push([`${kind.kind} ${item.metadata.namespace ?? ''}/${item.metadata.name}`, kind, item]);
    }
  }
  return rows;
}

const keyOf = ({ metadata: { name, namespace } }: Resource): { name: string; namespace?: string } => ({
  name,
  namespace,
});

/** The result of the requested reconcile. */
async function afterSeconds(world: TenantWorld): Promise<number> {
  const before = world.enqueued;
  await world.clock.advance(secondsMs);
  const enqueued = world.enqueued - before;
  if (enqueued > 0) await world.settle();
  await world.clock.advance(secondsMs);
  return enqueued;
}

const contentOf = ({ metadata, ...rest }: Resource): unknown => ({
  ...rest,
  labels: metadata.labels,
  annotations: metadata.annotations,
});

/** An edit that breaks the purpose of the kind. */
function damage({ kind }: Resource): unknown {
  const changes: Readonly<Record<string, unknown>> = {
    ConfigMap: { data: null },
    Secret: { data: null },
    Role: { rules: [] },
    ClusterRole: { rules: [] },
    RoleBinding: { subjects: [] },
    ClusterRoleBinding: { subjects: [] },
    ServiceAccount: { metadata: { annotations: { [labels.owner]: 'somebody' } } },
    Service: { spec: { ports: [] } },
    Deployment: { spec: { template: { spec: { containers: [] } } } },
    DaemonSet: { spec: { template: { spec: { containers: [] } } } },
  };
  return changes[kind];
}

const isCorefile = ([name]: Row): boolean => name === 'ConfigMap kube-system/coredns';

describe('Drift inside a tenant', () => {
  test('is reverted within seconds: each object that is deleted comes back', async () => {
    const world = await running();
    const before = await inside(world);
    const names = before.map(([name]) => name).sort();
    expect(names.length).toBeGreaterThan(25);
    for (const [name, kind, object] of before) {
      // Repeated deletions are reverted later each time.
      await world.clock.advance(recheckMs - 60_000);
      await world.reconcile();
      await world.tenant.admin.delete(kind, keyOf(object));
      expect([name, (await inside(world)).some(([left]) => left === name)]).toEqual([name, false]);
      expect([name, await afterSeconds(world)]).toEqual([name, 1]);
      expect((await inside(world)).map(([left]) => left).sort()).toEqual(names);
    }
  }, 60_000);

  test('is reverted within seconds: each object that is edited becomes what it was', async () => {
    const world = await running();
    const kindsSeen = new Set<string>();
    for (const [name, kind, object] of (await inside(world)).filter((row) => !isCorefile(row))) {
      kindsSeen.add(kind.kind);
      await world.clock.advance(recheckMs - 60_000);
      await world.reconcile();
      const body = damage(object);
      expect([name, body]).not.toEqual([name, undefined]);
      await world.tenant.admin.patch(kind, keyOf(object), { type: 'merge', body });
      expect([name, await afterSeconds(world)]).toEqual([name, 1]);
      const found = await world.tenant.admin.get<Resource>(kind, keyOf(object));
      expect(found && contentOf(found)).toEqual(contentOf(object));
    }
    expect([...kindsSeen].sort()).toEqual(expect.arrayContaining(['ConfigMap', 'DaemonSet', 'Deployment', 'Role']));
  }, 60_000);

  test('is reverted within seconds: our label comes back, and so does an annotation of ours on a Deployment', async () => {
    const world = await running();
    const key = { namespace: 'kube-system', name: 'coredns' };
    for (const metadata of [
      { labels: { [labels.component]: null } },
      { annotations: { [labels.owner]: 'somebody' } },
    ]) {
      await world.clock.advance(recheckMs - 60_000);
      const before = await world.tenant.admin.get(kinds.Deployment, key);
      await world.tenant.admin.patch(kinds.Deployment, key, { type: 'merge', body: { metadata } });
      expect(await afterSeconds(world)).toBe(1);
      const after = await world.tenant.admin.get(kinds.Deployment, key);
      expect(after?.metadata.labels).toEqual(before?.metadata.labels);
      expect(after?.metadata.annotations).toEqual(before?.metadata.annotations);
    }
  });

  test.each(endpointKinds)('is reverted within seconds: the address of the Service kubernetes, $kind', async (kind) => {
    const world = await running({});
    const key = { namespace: 'default', name: 'kubernetes' };
    const before = await world.tenant.admin.get<Resource>(kind, key);
    const body = kind.kind === 'Endpoints' ? { subsets: [] } : { endpoints: [] };
    await world.tenant.admin.patch(kind, key, { type: 'merge', body });
    expect(await afterSeconds(world)).toBe(1);
    await world.clock.advance(recheckMs - 60_000);
    await world.tenant.admin.delete(kind, key);
    expect(await afterSeconds(world)).toBe(1);
    const after = await world.tenant.admin.get<Resource>(kind, key);
    expect(after && contentOf(after)).toEqual(before && contentOf(before));
  });

  test('does not include the Service kubernetes once a proxy maintains it, and causes no reconcile', async () => {
    const world = await running({});
    await world.change({ spec: { addons: { tcpProxy: {} } } });
    await world.settle();
    const key = { namespace: 'default', name: 'kubernetes' };
    let enqueued = await afterSeconds(world);
    for (const address of ['192.0.2.30', '192.0.2.31', '192.0.2.32']) {
      await world.clock.advance(recheckMs - 60_000);
      const body = { endpoints: [{ addresses: [address] }] };
      await world.tenant.admin.patch(kinds.EndpointSlice, key, { type: 'merge', body });
      enqueued += await afterSeconds(world);
    }
    expect(enqueued).toBe(0);
    expect((await world.tenant.admin.get(kinds.EndpointSlice, key))?.endpoints?.[0]?.addresses).toEqual(['192.0.2.32']);
  });

  test('does not include changes that administrators may make: an edited Corefile, a status, and their own objects', async () => {
    const world = await running();
    const { admin } = world.tenant;
    const corefile = { namespace: 'kube-system', name: 'coredns' };
    await admin.patch(kinds.ConfigMap, corefile, { type: 'merge', body: { data: { Corefile: 'mine' } } });
    const status = { type: 'merge', body: { status: { replicas: 2 } } } as const;
    await admin.patch(kinds.Deployment, corefile, status, { subresource: 'status' });
    const metadata = { name: 'mine', namespace: 'default' };
    await admin.create(kinds.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    const labeled = { ...metadata, name: 'mine-too', labels: { [labels.component]: 'coredns' } };
    await admin.create(kinds.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: labeled });
    await admin.delete(kinds.ConfigMap, metadata);
    expect(await afterSeconds(world)).toBe(0);
    expect((await admin.get(kinds.ConfigMap, corefile))?.data).toEqual({ Corefile: 'mine' });
  });

  test('does not include the number of CoreDNS replicas, also when everything is applied again', async () => {
    const world = await running();
    const key = { namespace: 'kube-system', name: 'coredns' };
    const replicas = async (): Promise<unknown> =>
      (await world.tenant.admin.get<Resource & { spec?: { replicas?: number } }>(kinds.Deployment, key))?.spec
        ?.replicas;
    expect(await replicas()).toBe(2);
    await world.tenant.admin.patch(kinds.Deployment, key, { type: 'merge', body: { spec: { replicas: 5 } } });
    await afterSeconds(world);
    expect(await replicas()).toBe(5);
    await world.change({ spec: { addons: { coreDNS: { imageTag: 'v1.99.0' } } } });
    await world.settle();
    expect(await replicas()).toBe(5);
    await world.clock.advance(recheckMs - 60_000);
    await world.tenant.admin.delete(kinds.Deployment, key);
    expect(await afterSeconds(world)).toBe(1);
    expect(await replicas()).toBe(2);
  });

  test('does not include our own writes: a change of the spec causes no reconcile', async () => {
    const world = await running();
    await world.change({ spec: { addons: { coreDNS: { imageTag: 'v1.99.0' } } } });
    await world.settle();
    expect(await afterSeconds(world)).toBe(0);
    await world.change({ spec: { addons: { kubeProxy: null } } });
    await world.settle();
    expect(await afterSeconds(world)).toBe(0);
  });

  test('costs nothing at rest, and a missed change is found after four hours', async () => {
    const world = await running();
    const enqueued = world.enqueued;
    const calls = world.tenant.calls.length;
    for (let reconciles = 0; reconciles < 15; reconciles += 1) {
      await world.clock.advance(recheckMs);
      await world.reconcile();
    }
    expect(world.enqueued).toBe(enqueued);
    // Only whether the API server lives.
    expect(world.tenant.calls.slice(calls).filter(({ verb }) => verb !== 'text')).toEqual([]);
    await world.clock.advance(2 * recheckMs);
    await world.reconcile();
    expect(world.tenant.calls.filter(({ verb }) => verb === 'apply').length).toBeGreaterThan(20);
  });
});

describe('A tenant that sleeps', () => {
  /** A world that counts the connections to the tenant that are open. */
  const counted = (): { readonly world: TenantWorld; readonly open: Set<object> } => {
    const open = new Set<object>();
    const world: TenantWorld = new TenantWorld({
      watches: ({ clock, tenant }) =>
        new TenantWatches({
          ...{ memory: new ObjectMemory(), clock, random: () => 0.9, select: selectionInTenant },
          open: () => {
            const line = clusterLine(tenant);
            open.add(line);
            const close = (): void => {
              open.delete(line);
              line.close();
            };
            return { ...line, close };
          },
        }),
    });
    return { world, open };
  };

  test.each<[string, number]>([
    ['that were open', 10 * secondsMs],
    ['that were about to be opened', 0],
  ])('has no connections of the manager, neither those %s nor others: each would wake it up', async (_name, ms) => {
    const { world, open } = counted();
    await world.create({ spec: { addons } });
    await world.settle();
    await world.clock.advance(ms);
    await world.settle();
    expect(open.size).toBe(ms === 0 ? 0 : 1);
    await world.change({ spec: { controlPlane: { deployment: { replicas: 0 } } } });
    await world.settle();
    const calls = world.tenant.calls.length;
    await world.clock.advance(recheckMs);
    await world.settle();
    expect([open.size, world.tenant.calls.slice(calls)]).toEqual([0, []]);
  });

  test('is watched for drift again when it has woken up, and what changed meanwhile is reverted', async () => {
    const { world, open } = counted();
    await world.create({ spec: { addons } });
    await world.settle();
    const replicas = async (count: number): Promise<void> => {
      await world.change({ spec: { controlPlane: { deployment: { replicas: count } } } });
      await world.settle();
    };
    await replicas(0);
    const key = { namespace: 'kube-system', name: 'coredns' };
    await world.tenant.admin.delete(kinds.Deployment, key);
    await replicas(1);
    await world.clock.advance(10 * secondsMs);
    await world.settle();
    expect([open.size, (await world.tenant.admin.get(kinds.Deployment, key)) === undefined]).toEqual([1, false]);
  });
});

describe('A tenant that cannot be watched', () => {
  test('is checked every quarter of an hour', async () => {
    const world = new TenantWorld();
    await world.create({ spec: { addons } });
    await world.settle();
    const calls = world.tenant.calls.length;
    await world.clock.advance(recheckMs);
    await world.reconcile();
    expect(world.tenant.calls.length).toBeGreaterThan(calls);
  });
});
