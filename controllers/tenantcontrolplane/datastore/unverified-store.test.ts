import { describe, expect, test } from '@jest/globals';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import type { DataStoreSpec } from '../../../api/steward/v1alpha1/data-store.ts';
import { verifiedIsolation } from '../../../testing/builders/verified-isolation.ts';
import { MigrationWorld } from '../../../testing/worlds/migration-world.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';

const breached = {
  ...verifiedIsolation,
  ...{
    status: 'False',
    reason: 'Breached',
    message: 'version 3.6.13 did not refuse attempt 31 of a canary tenant: watch all keys',
  },
} as const;

async function say(world: TenantWorld, conditions: readonly object[], name = 'default'): Promise<void> {
  const body = { status: { conditions } };
  await world.cluster.admin.patch(dataStore, { name }, { type: 'merge', body }, { subresource: 'status' });
}

async function settings(world: TenantWorld, spec: Partial<DataStoreSpec>): Promise<void> {
  await world.cluster.admin.patch(dataStore, { name: 'default' }, { type: 'merge', body: { spec } });
}

describe('A new tenant', () => {
  test('waits for the verification of its DataStore, and gets a tenancy when that is done', async () => {
    const world = new TenantWorld();
    await world.create();
    await say(world, []);
    await world.settle();
    expect(await world.condition('StoreReady')).toBe(
      'False DataStoreNotVerified: DataStore default has not been verified to isolate tenants since it was created or changed: wait until its condition IsolationVerified is True, use another DataStore, or ask the operator to close the hole that the condition names',
    );
    expect(world.store.calls).toEqual([]);
    await say(world, [verifiedIsolation]);
    await world.settle();
    expect(await world.condition('StoreReady')).toBe('True');
  });

  test('reports why its DataStore cannot be used before it reports that the DataStore is not verified', async () => {
    const world = new TenantWorld();
    await world.create();
    const message = 'Reachable: etcd:2379: no answer';
    await say(world, [{ ...verifiedIsolation, type: 'Ready', status: 'False', reason: 'Unreachable', message }]);
    await world.settle();
    expect(await world.condition('StoreReady')).toBe(`False Unreachable: DataStore default cannot be used: ${message}`);
  });

  test('is kept out of a DataStore that lets tenants out, unless the operator has it only report that', async () => {
    const world = new TenantWorld();
    await world.create();
    await say(world, [breached]);
    await world.settle();
    expect(await world.condition('StoreReady')).toContain('is not verified to isolate tenants (Breached)');
    expect(world.store.calls).toEqual([]);
    await settings(world, { isolationPolicy: 'Report' });
    await world.settle();
    expect(await world.condition('StoreReady')).toBe('True');
  });
});

test('a running tenant stays as it is in a DataStore that turns out to let tenants out', async () => {
  const world = new TenantWorld();
  await world.create();
  await world.settle();
  const before = await world.deployment();
  await say(world, [breached]);
  for (const restarts of [false, true]) {
    if (restarts) world.restart();
    await world.settle();
    expect(await world.condition('StoreReady')).toBe('True');
    expect(await world.condition('Ready')).toBe('True');
    expect(await world.deployment()).toEqual(before);
  }
});

test('an override waits for the verification of its DataStore, and the pods are left alone', async () => {
  const world = new TenantWorld();
  await world.create();
  await world.settle();
  const before = await world.deployment();
  await world.addStoreBeside('events');
  await say(world, [], 'events');
  await world.change({ spec: { dataStoreOverrides: [{ resource: '/events', dataStore: 'events' }] } });
  await world.settle();
  expect(await world.condition('StoreReady')).toMatch(
    /^False DataStoreNotVerified: DataStore events of spec\.dataStoreOverrides has not been verified/,
  );
  expect(await world.deployment()).toEqual(before);
  await say(world, [verifiedIsolation], 'events');
  await world.settle();
  expect(await world.condition('StoreReady')).toBe('True');
});

test('a migration waits for the verification of its target, and the tenant runs on its source meanwhile', async () => {
  const world = new MigrationWorld();
  await world.running();
  await say(world, [], 'other');
  await world.moveTo('other');
  await world.settle();
  const { migration } = (await world.read()).status?.storage ?? {};
  expect(migration).toMatchObject({
    phase: 'Preparing',
    message: expect.stringMatching(/^DataStore other has not been verified to isolate tenants/),
  });
  expect([...world.target.tenancies.keys()]).toEqual([]);
});
