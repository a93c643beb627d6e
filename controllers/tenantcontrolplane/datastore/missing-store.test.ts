import { describe, expect, test } from '@jest/globals';
import type { Draft } from '../../../api/meta.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { StoreError } from '../../../stores/store-error.ts';
import { verifiedIsolation } from '../../../testing/builders/verified-isolation.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';

async function running(kine: boolean): Promise<TenantWorld> {
  const world = new TenantWorld({ kine });
  await world.create();
  await world.settle();
  expect(await world.condition('Ready')).toBe('True');
  return world;
}

/** The status by the controller of DataStores, and the credentials. */
async function loseCredentials(world: TenantWorld, message: string | undefined): Promise<void> {
  const { driver } = world.store;
  Object.assign(driver, {
    configure: () =>
      message === undefined
        ? Promise.resolve('store:2379')
        : Promise.reject(new StoreError('CredentialsMissing', message)),
  });
  const conditions = [
    { type: 'Ready', status: message === undefined ? 'True' : 'False', reason: 'X', message: message ?? '' },
  ];
  const body = { status: { conditions: [...conditions, verifiedIsolation] } };
  await world.cluster.admin.patch(dataStore, { name: 'default' }, { type: 'merge', body }, { subresource: 'status' });
}

describe.each([
  ['that speaks the protocol of etcd', false],
  ['behind kine', true],
])('A control plane on a datastore %s', (_words, kine) => {
  test('continues to run when its DataStore is missing, reports that, and recovers when it is back', async () => {
    const world = await running(kine);
    const before = await world.deployment();
    const stored = await world.cluster.admin.get(dataStore, { name: 'default' });
    await world.cluster.admin.delete(dataStore, { name: 'default' });
    for (const restarts of [false, true]) {
      if (restarts) world.restart();
      await world.settle();
      expect(await world.deployment()).toEqual(before);
      expect(await world.condition('StoreReady')).toBe(
        'False DataStoreNotFound: DataStore default does not exist: create it; running pods are left alone',
      );
      expect(await world.condition('Ready')).toContain('DataStore default does not exist');
      expect(await world.state()).toBe('Ready');
    }
    const { spec, apiVersion, kind } = stored ?? {};
    await world.cluster.seed(dataStore, { apiVersion, kind, metadata: { name: 'default' }, spec } as Draft);
    await world.settle();
    expect(await world.condition('Ready')).toBe('True');
    expect(await world.deployment()).toEqual(before);
  });

  test('continues to run when the Secret of its DataStore is missing, names it, and recovers when it is back', async () => {
    const world = await running(kine);
    const before = [
      await world.deployment(),
      await world.secret('datastore-config'),
      await world.secret('datastore-certificate'),
    ];
    await loseCredentials(world, 'spec.x: Secret steward-system/credentials is not found');
    for (const restarts of [false, true]) {
      if (restarts) world.restart();
      await world.settle();
      expect(await world.condition('StoreReady')).toContain('Secret steward-system/credentials is not found');
      expect(await world.state()).toBe('Ready');
      const after = [
        await world.deployment(),
        await world.secret('datastore-config'),
        await world.secret('datastore-certificate'),
      ];
      expect(after).toEqual(before);
    }
    expect(world.events.join()).toContain('Secret steward-system/credentials is not found');
    await loseCredentials(world, undefined);
    await world.settle();
    expect(await world.condition('Ready')).toBe('True');
    expect(world.store.tenancies.size).toBe(1);
  });
});
