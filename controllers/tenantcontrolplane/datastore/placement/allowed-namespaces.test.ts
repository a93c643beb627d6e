import { describe, expect, jest, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import { dataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { AllowedNamespaces } from '../../../../api/steward/v1alpha1/allowed-namespaces.ts';
import { MigrationWorld } from '../../../../testing/worlds/migration-world.ts';
import { TenantWorld } from '../../../../testing/worlds/tenant-world.ts';

jest.setTimeout(60_000);

const allow = (world: TenantWorld, name: string, allowedNamespaces: AllowedNamespaces | null): Promise<unknown> =>
  world.cluster.admin.patch(dataStore, { name }, { type: 'merge', body: { spec: { allowedNamespaces } } });

const label = (world: TenantWorld, labels: Record<string, string>): Promise<unknown> =>
  world.cluster.seed(kinds.Namespace, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'default', labels },
  });

const remedy =
  'use another DataStore, or ask the operator to add the namespace to the spec.allowedNamespaces of this one';

describe('A DataStore that is limited to some namespaces', () => {
  test('gives tenants of another namespace no tenancy, with the fix, and accepts them once the namespace is added', async () => {
    const world = new TenantWorld();
    await world.create();
    await allow(world, 'default', { names: ['elsewhere'] });
    await world.settle();
    expect(await world.condition('StoreReady')).toBe(
      `False DataStoreNotAllowed: DataStore default accepts no tenants from namespace default: ${remedy}`,
    );
    expect(world.store.tenancies.size).toBe(0);
    await allow(world, 'default', { names: ['elsewhere', 'default'] });
    await world.settle();
    expect(world.store.tenancies.size).toBe(1);
    expect(await world.condition('StoreReady')).toBe('True');
  });

  test('selects by the labels of the namespace', async () => {
    const world = new TenantWorld();
    await world.create();
    await label(world, { tier: 'silver' });
    await allow(world, 'default', { selector: { matchLabels: { tier: 'gold' } } });
    await world.settle();
    expect(await world.condition('StoreReady')).toContain('DataStoreNotAllowed');
    const body = { metadata: { labels: { tier: 'gold' } } };
    await world.cluster.admin.patch(kinds.Namespace, { name: 'default' }, { type: 'merge', body });
    await world.settle();
    expect(await world.condition('StoreReady')).toBe('True');
  });

  test('keeps its existing tenants, and reports that', async () => {
    const world = new TenantWorld();
    await world.create();
    await world.settle();
    await allow(world, 'default', { names: [] });
    await world.settle();
    const conditions = (await world.read()).status?.conditions ?? [];
    expect(conditions.find(({ type }) => type === 'StoreReady')).toMatchObject({
      status: 'True',
      message: 'DataStore default accepts no tenants from namespace default anymore; this tenant may stay',
    });
    expect(await world.condition('Ready')).toBe('True');
    expect(world.store.tenancies.size).toBe(1);
  });

  test('accepts no overrides of others either', async () => {
    const world = new TenantWorld();
    const second = await world.addStoreBeside('events');
    await allow(world, 'events', { names: ['elsewhere'] });
    const overrides = [{ resource: '/events', dataStore: 'events' }];
    await world.create({ spec: { dataStore: 'default', dataStoreOverrides: overrides } });
    await world.settle();
    expect(await world.condition('StoreReady')).toContain(
      'DataStoreNotAllowed: DataStore events, which spec.dataStoreOverrides names for /events, accepts no tenants from namespace default',
    );
    expect(second.tenancies.size).toBe(0);
  });

  test('is no target of a migration of others', async () => {
    const world = new MigrationWorld();
    await world.running();
    await allow(world, 'other', { names: ['elsewhere'] });
    await world.moveTo('other');
    const record = await world.migrate();
    expect(record.phase).toBe('Failed');
    expect(record.message).toContain(`DataStore other accepts no tenants from namespace default: ${remedy}`);
    expect(world.target.tenancies.size).toBe(0);
    expect((await world.read()).status?.storage?.dataStoreName).toBe('default');
  });
});
