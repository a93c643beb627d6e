import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import type { NetworkPolicy, PodDisruptionBudget } from '../../../api/core/kinds.ts';
import type { Resource } from '../../../api/meta.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { listedInformers } from '../../../testing/fake/listed-informers.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';
import type { TenantControlPlaneChanges } from '../../../testing/builders/tenant-control-plane.ts';

const key = { namespace: 'default', name: 'tenant' };

async function running(changes: TenantControlPlaneChanges = {}): Promise<TenantWorld> {
  const world = new TenantWorld();
  await world.create(changes);
  await world.settle();
  return world;
}

const budget = (world: TenantWorld): Promise<PodDisruptionBudget | undefined> =>
  world.cluster.admin.get(kinds.PodDisruptionBudget, key);
const policy = (world: TenantWorld): Promise<NetworkPolicy | undefined> =>
  world.cluster.admin.get(kinds.NetworkPolicy, key);
const scale = (world: TenantWorld, replicas: number): Promise<void> =>
  world.change({ spec: { controlPlane: { deployment: { replicas } } } });

/** Objects of others are read once a minute. */
async function later(world: TenantWorld): Promise<void> {
  await world.clock.advance(61_000);
  await world.settle();
}

async function addPolicy(world: TenantWorld, name: string, spec: object): Promise<void> {
  await world.cluster.admin.create(kinds.NetworkPolicy, {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { namespace: 'default', name },
    spec,
  });
}

async function addBudget(world: TenantWorld, name: string): Promise<void> {
  await world.cluster.admin.create(kinds.PodDisruptionBudget, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { namespace: 'default', name },
    spec: { selector: { matchLabels: { 'steward.butlerlabs.dev/name': 'tenant' } }, minAvailable: 1 },
  });
}

describe('The PodDisruptionBudget of a control plane', () => {
  test('exists from two pods on, and is deleted when they become fewer', async () => {
    const world = await running();
    expect((await budget(world))?.metadata.ownerReferences?.[0]?.name).toBe('tenant');
    await scale(world, 1);
    await world.settle();
    expect(await budget(world)).toBeUndefined();
    await scale(world, 3);
    await world.settle();
    expect((await budget(world))?.spec?.maxUnavailable).toBe(1);
  });

  test('is deleted although another process had created it', async () => {
    const world = await running();
    world.restart();
    await scale(world, 0);
    await world.settle();
    expect(await budget(world)).toBeUndefined();
  });

  test('does not replace one that a user created under its name', async () => {
    const world = new TenantWorld();
    await addBudget(world, 'tenant');
    await world.create();
    await world.settle();
    expect((await budget(world))?.spec?.minAvailable).toBe(1);
    expect((await budget(world))?.metadata.ownerReferences).toBeUndefined();
    expect(await world.condition('Ready')).toBe('True');
  });

  test('is deleted beside one that a user created, because the pods could otherwise not be evicted, and created again after it', async () => {
    const world = await running();
    await addBudget(world, 'theirs');
    await later(world);
    expect(await budget(world)).toBeUndefined();
    const conditions = (await world.read()).status?.conditions ?? [];
    expect(conditions.find(({ type }) => type === 'PodsProtected')).toMatchObject({
      status: 'True',
      message: expect.stringContaining('PodDisruptionBudget theirs already covers the pods') as unknown,
    });
    await world.cluster.admin.delete(kinds.PodDisruptionBudget, { namespace: 'default', name: 'theirs' });
    await later(world);
    expect(await budget(world)).toBeDefined();
  });
});

test('a budget that a user created is used as soon as a watch reports it', async () => {
  const seen: Resource[] = [];
  const world = new TenantWorld({ informers: () => listedInformers({ PodDisruptionBudget: () => seen }) });
  await world.create();
  await world.settle();
  await addBudget(world, 'theirs');
  await world.settle();
  expect(await budget(world)).toBeDefined();
  const theirs = await world.cluster.admin.get(kinds.PodDisruptionBudget, { namespace: 'default', name: 'theirs' });
  if (theirs !== undefined) seen.push(theirs);
  await world.settle();
  expect(await budget(world)).toBeUndefined();
});

describe('The network policy of a control plane', () => {
  const kubernetes = { namespace: 'default', name: 'kubernetes' };

  /** What the policy keeps pods from, of both families. */
  async function denied(world: TenantWorld): Promise<readonly string[]> {
    const rules = (await policy(world))?.spec?.egress ?? [];
    const blocks = rules.flatMap(({ to = [] }) => to).flatMap(({ ipBlock }) => ipBlock?.except ?? []);
    return blocks.filter((cidr) => /^(192\.0\.2|10\.96)\./.test(cidr));
  }

  test('is updated with the Service `kubernetes` of the management cluster and its endpoints', async () => {
    const world = new TenantWorld();
    await world.create();
    await world.settle();
    expect(await denied(world)).toEqual(['10.96.0.1/32', '192.0.2.250/32']);
    expect(await world.condition('PodsProtected')).toBe('True');
    const body = { endpoints: [{ addresses: ['192.0.2.9'] }] };
    await world.cluster.admin.patch(kinds.EndpointSlice, kubernetes, { type: 'merge', body });
    await later(world);
    expect(await denied(world)).toEqual(['10.96.0.1/32', '192.0.2.9/32']);
    const [machine] = ((await policy(world))?.spec?.egress ?? []).slice(2);
    expect(machine?.to).toEqual([{ ipBlock: { cidr: '192.0.2.9/32' } }]);
    expect((await policy(world))?.spec?.ingress).toEqual([{ ports: [{ protocol: 'TCP', port: 6443 }] }]);
  });

  test('lets pods connect to the ports of their datastore, wherever that is', async () => {
    const world = new TenantWorld();
    await world.create();
    const body = { spec: { endpoints: ['etcd:12379'] } };
    await world.cluster.admin.patch(dataStore, { name: 'default' }, { type: 'merge', body });
    await world.settle();
    const [anywhere] = (await policy(world))?.spec?.egress ?? [];
    expect(anywhere?.ports?.map(({ port }) => port)).toEqual([53, 53, 12379]);
  });

  test.each(['EndpointSlice', 'Service'] as const)(
    'reports that it does not know the API server without its %s',
    async (kind) => {
      const world = await running();
      await world.cluster.admin.delete(kinds[kind], kubernetes);
      world.restart();
      const { elsewhere } = await world.settle();
      expect(await world.condition('PodsProtected')).toContain(`ManagementApiUnknown`);
      expect(await world.condition('PodsProtected')).toContain(`${kind} default/kubernetes has no address`);
      expect(await world.condition('Ready')).toBe('True');
      expect(elsewhere?.afterMs).toBe(60_000);
      await world.change({ spec: { controlPlane: { networkPolicy: { egress: 'Open' } } } });
      await world.settle();
      expect(await world.condition('PodsProtected')).toBe('True');
    },
  );

  test('allows ports that others have added to the Service', async () => {
    const world = await running();
    const extra = { name: 'theirs', protocol: 'TCP', port: 9000, targetPort: 'metrics' };
    const ports = (await world.cluster.admin.get(kinds.Service, key))?.spec?.ports ?? [];
    const body = { spec: { ports: [...ports, extra] } };
    await world.cluster.admin.patch(kinds.Service, key, { type: 'merge', body });
    await world.settle();
    expect((await policy(world))?.spec?.ingress?.[0]?.ports).toEqual([
      { protocol: 'TCP', port: 6443 },
      { protocol: 'TCP', port: 'metrics' },
    ]);
  });

  test('does not replace one that a user created under its name', async () => {
    const world = new TenantWorld();
    await addPolicy(world, 'tenant', { podSelector: { matchLabels: { app: 'x' } }, policyTypes: ['Egress'] });
    await world.create();
    await world.settle();
    expect((await policy(world))?.spec?.podSelector).toEqual({ matchLabels: { app: 'x' } });
    expect(await world.condition('PodsProtected')).toContain(
      'NetworkPolicy default/tenant was created by someone else and is left alone',
    );
    expect(await world.condition('Ready')).toBe('True');
  });

  test('is deleted when its author opens both directions, and created again', async () => {
    const world = await running();
    await world.change({ spec: { controlPlane: { networkPolicy: { ingress: 'Open', egress: 'Open' } } } });
    await world.settle();
    expect(await policy(world)).toBeUndefined();
    await world.change({ spec: { controlPlane: { networkPolicy: null } } });
    await world.settle();
    expect((await policy(world))?.spec?.policyTypes).toEqual(['Ingress', 'Egress']);
  });

  test('does not make a tenant unready if it cannot be written', async () => {
    const world = await running();
    await world.cluster.admin.delete(kinds.NetworkPolicy, key);
    world.cluster.before(({ kind, verb }) => {
      if (kind?.kind === 'NetworkPolicy' && verb === 'apply') throw new Error('no such thing');
    });
    world.restart();
    await world.reconcile();
    expect(await world.condition('PodsProtected')).toBe('False Failed: no such thing');
    expect(await world.condition('Ready')).toBe('True');
  });
});
