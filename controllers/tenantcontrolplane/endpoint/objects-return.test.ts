import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import type { KindRef, Resource } from '../../../api/meta.ts';
import { labels } from '../../../api/names.ts';
import { konnectivityAddon } from '../../../testing/builders/konnectivity-addon.ts';
import { listedInformers } from '../../../testing/fake/listed-informers.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { noneIfAbsent, TenantWorld } from '../../../testing/worlds/tenant-world.ts';
import { recheckMs } from '../tenant/tenant-access.ts';
import { policyKinds, tenantKinds } from '../shared/tenant-kinds.ts';
import { ownedKinds } from '../watches.ts';

const autoscaling = { minReplicas: 2, maxReplicas: 3, targetInFlightRequests: 100 };
const { controlPlane } = tenantControlPlaneWith({ deployment: { autoscaling } }).spec;
const everything = {
  dataStore: 'default',
  addons: { coreDNS: {}, kubeProxy: {}, konnectivity: konnectivityAddon() },
  controlPlane: { ...controlPlane, ingress: { hostname: 'tenant.k8s.example.org:443', ingressClassName: 'nginx' } },
};

type Found = Resource & { readonly data?: Readonly<Record<string, string>>; readonly spec?: unknown };

/** A world with caches that are up to date at the beginning of each reconcile. */
class CachedWorld extends TenantWorld {
  readonly #caches: Map<string, readonly Found[]>;

  constructor(kine: boolean) {
    const caches = new Map<string, readonly Found[]>();
    const lists = ownedKinds.map(
      ({ kind }) => [kind.kind, (): readonly Found[] => caches.get(kind.kind) ?? []] as const,
    );
    super({ kine, informers: () => listedInformers(Object.fromEntries(lists)) });
    this.#caches = caches;
  }

  override async reconcile(): ReturnType<TenantWorld['reconcile']> {
    const fresh = new Map<string, readonly Found[]>();
    for (const { kind } of ownedKinds) {
      const { items } = await this.cluster.admin.list<Found>(kind).catch(noneIfAbsent);
      // Several versions of one kind are followed; the cluster has one of them at most.
      if (items.length > 0) fresh.set(kind.kind, items);
    }
    this.#caches.clear();
    for (const [kind, items] of fresh) this.#caches.set(kind, items);
    return super.reconcile();
  }

  /** The objects of the tenant beside it, by kind and name. */
  async owned(): Promise<ReadonlyMap<string, readonly [KindRef, Found]>> {
    const found = new Map<string, readonly [KindRef, Found]>();
    const { uid } = (await this.read()).metadata;
    for (const { kind } of ownedKinds) {
      const { items } = await this.cluster.admin.list<Found>(kind).catch(noneIfAbsent);
      const own = items.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
      for (const item of own) found.set(`${kind.kind} ${item.metadata.name}`, [kind, item]);
    }
    return found;
  }
}

async function running(kine = false): Promise<CachedWorld> {
  const world = new CachedWorld(kine);
  await world.create({ spec: everything });
  await world.settle();
  return world;
}

/** Recreating these after a deletion would invalidate workers or tokens: controller.test.ts shows what happens instead. */
const authorities = ['Secret tenant-ca', 'Secret tenant-front-proxy-ca-certificate', 'Secret tenant-sa-certificate'];

const rows = [
  'ConfigMap tenant-konnectivity-egress-selector-configuration',
  'ConfigMap tenant-kubeadmconfig',
  'Deployment tenant',
  'HorizontalPodAutoscaler tenant',
  'Ingress tenant',
  'NetworkPolicy tenant',
  'PodDisruptionBudget tenant',
  'Secret tenant-admin-kubeconfig',
  'Secret tenant-api-server-certificate',
  'Secret tenant-api-server-kubelet-client-certificate',
  'Secret tenant-controller-manager-kubeconfig',
  'Secret tenant-datastore-certificate',
  'Secret tenant-datastore-config',
  'Secret tenant-front-proxy-client-certificate',
  'Secret tenant-konnectivity-certificate',
  'Secret tenant-konnectivity-kubeconfig',
  'Secret tenant-scheduler-kubeconfig',
  'Service tenant',
];
const secrets = rows.filter((row) => row.startsWith('Secret ')).map((row) => row.slice('Secret tenant-'.length));

/** What must be as before, although other parts were issued again. */
function shape({ metadata, data, spec }: Found): unknown {
  const owners = metadata.ownerReferences?.map(({ uid }) => uid);
  const labeled = Object.keys(metadata.labels ?? {}).sort();
  return { owners, labels: labeled, finalizers: metadata.finalizers, keys: Object.keys(data ?? {}).sort(), spec };
}

/** A Deployment names the checksums of what it mounts, which may be new, and a new Service has another cluster address. */
const withoutChance = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value)
      .replace(/"[0-9a-f]{32}"/g, '"checksum"')
      .replace(/10\.96\.\d+\.\d+/g, 'address'),
  );

describe('A deleted object of a tenant', () => {
  test('is one of these, or one that cannot be recreated', async () => {
    expect([...(await (await running()).owned()).keys()].sort()).toEqual([...rows, ...authorities].sort());
  });

  test.each(rows)('comes back as it was: %s', async (row) => {
    const world = await running();
    const before = await world.owned();
    const [kind, object] = before.get(row) ?? [];
    if (kind === undefined || object === undefined) throw new Error(`there is no ${row}`);
    const key = { namespace: 'default', name: object.metadata.name };
    await world.cluster.admin.patch(kind, key, { type: 'merge', body: { metadata: { finalizers: null } } });
    await world.cluster.admin.delete(kind, key);
    expect((await world.owned()).has(row)).toBe(false);
    await world.settle();
    const after = await world.owned();
    for (const [name, [, found]] of before) {
      const [, now] = after.get(name) ?? [];
      expect([name, withoutChance(now && shape(now))]).toEqual([name, withoutChance(shape(found))]);
    }
    expect(await world.condition('Ready')).toBe('True');
    const writes = await world.writes();
    await world.reconcile();
    expect(await world.writes()).toBe(writes);
  });

  test('comes back with the password that its datastore has', async () => {
    const world = await running(true);
    const key = { namespace: 'default', name: 'tenant-datastore-config' };
    await world.cluster.admin.patch(kinds.Secret, key, { type: 'merge', body: { metadata: { finalizers: null } } });
    await world.cluster.admin.delete(kinds.Secret, key);
    await world.settle();
    const password = Buffer.from(
      (await world.secret('datastore-config'))?.data?.DB_PASSWORD ?? '',
      'base64',
    ).toString();
    expect(password).not.toBe('');
    expect([...world.store.tenancies.values()].map((tenancy) => tenancy.password)).toEqual([password]);
    expect(await world.condition('Ready')).toBe('True');
  });
});

describe('A Secret of a tenant', () => {
  const put = async (world: TenantWorld, suffix: string, data: Secret['data']): Promise<void> => {
    const key = { namespace: 'default', name: `tenant-${suffix}` };
    await world.cluster.admin.patch(kinds.Secret, key, { type: 'merge', body: { data } });
    await world.settle();
  };

  // What is a usable certificate of a store is for its driver to say.
  test.each(secrets.filter((suffix) => suffix !== 'datastore-certificate'))(
    'with invalid content is repaired: %s',
    async (suffix) => {
      const world = await running();
      const before = (await world.secret(suffix))?.data ?? {};
      const nonsense = Object.fromEntries(Object.keys(before).map((name) => [name, 'bm9uc2Vuc2U=']));
      await put(world, suffix, nonsense);
      const after = (await world.secret(suffix))?.data ?? {};
      expect(Object.keys(after).sort()).toEqual(Object.keys(before).sort());
      expect(Object.values(after)).not.toContain('bm9uc2Vuc2U=');
      expect(await world.condition('Ready')).toBe('True');
    },
  );

  test.each(secrets.filter((suffix) => !suffix.startsWith('datastore')))(
    'that was swapped for that of another tenant is repaired: %s',
    async (suffix) => {
      const [world, other] = [await running(), await running()];
      const foreign = (await other.secret(suffix))?.data ?? {};
      await put(world, suffix, foreign);
      const after = (await world.secret(suffix))?.data ?? {};
      expect(Object.keys(after).sort()).toEqual(Object.keys(foreign).sort());
      for (const [name, value] of Object.entries(foreign)) expect([name, after[name]]).not.toEqual([name, value]);
      expect(await world.condition('Ready')).toBe('True');
    },
  );
});

describe('A deleted object inside the tenant', () => {
  async function inside(world: TenantWorld): Promise<ReadonlyMap<string, readonly [KindRef, Resource]>> {
    const found = new Map<string, readonly [KindRef, Resource]>();
    for (const kind of [...tenantKinds, ...policyKinds]) {
      const { items } = await world.tenant.admin.list<Resource>(kind);
      const ours = items.filter(({ metadata }) => metadata.labels?.[labels.component] !== undefined);
      for (const item of ours) {
        const { namespace = '', name } = item.metadata;
        found.set(`${kind.kind} ${namespace}/${name}`, [kind, item]);
      }
    }
    return found;
  }

  test('comes back within a quarter of an hour, whichever it is', async () => {
    const world = await running();
    const before = await inside(world);
    expect(before.size).toBeGreaterThan(20);
    for (const [row, [kind, { metadata }]] of before) {
      const { namespace, name } = metadata;
      await world.tenant.admin.delete(kind, { name, namespace });
      expect([row, (await inside(world)).has(row)]).toEqual([row, false]);
      await world.clock.advance(recheckMs);
      await world.settle();
      expect([...(await inside(world)).keys()].sort()).toEqual([...before.keys()].sort());
    }
  }, 120_000);
});
