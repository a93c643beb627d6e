import { expect, test } from '@jest/globals';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { MigrationWorld } from './migration-world.ts';
import { settledWorlds } from './settled-worlds.ts';
import { tenantShape } from './tenant-shape.ts';
import { TenantWorld } from './tenant-world.ts';

test('worlds are prepared once, and each holds what the first one holds', async () => {
  const models: TenantWorld[] = [];
  const next = settledWorlds(
    () => new TenantWorld(),
    async (world) => {
      models.push(world);
      await world.create();
      await world.settle();
      await world.clock.advance(5000);
    },
  );
  const [one, two] = [await next(), await next()];
  const [model, ...more] = models;
  expect(more).toEqual([]);
  for (const world of [one, two]) {
    expect(await tenantShape(world)).toEqual(model && (await tenantShape(model)));
    expect(world.store.access.lines).toEqual(model?.store.access.lines);
    expect(world.clock.now()).toEqual(model?.clock.now());
    expect((await world.secret('ca'))?.data).toEqual((await model?.secret('ca'))?.data);
  }
});

test('what happens in one world is not seen in another', async () => {
  const next = settledWorlds(
    () => new TenantWorld(),
    async (world) => {
      await world.create();
      await world.settle();
    },
  );
  const [gone, stays] = [await next(), await next()];
  await gone.cluster.admin.delete(tenantControlPlane, { namespace: 'default', name: 'tenant' });
  await gone.settle();
  expect([await gone.exists(), gone.store.tenancies.size, gone.store.access.users.length]).toEqual([false, 0, 0]);
  for (const world of [stays, await next()]) {
    expect(await world.condition('Ready')).toBe('True');
    expect([world.store.tenancies.size, world.store.access.users.length]).toEqual([1, 1]);
  }
});

test('pods, the data of a tenant and a second store are copied as well', async () => {
  const next = settledWorlds(
    () => new MigrationWorld(),
    async (world) => {
      await world.running();
      const [schema = ''] = world.store.tenancies.keys();
      world.store.dataOf(schema).tenantWrites({ is: 'put', entry: { key: 'a', value: Buffer.from('1') } });
      await world.moveTo('other');
      await world.until('Copying');
    },
  );
  const [one, two] = [await next(), await next()];
  const [schema = ''] = one.store.tenancies.keys();
  one.store.dataOf(schema).tenantWrites({ is: 'put', entry: { key: 'a', value: Buffer.from('2') } });
  expect(one.store.dataOf(schema).texts()).toEqual([['a', '2']]);
  expect(two.store.dataOf(schema).texts()).toEqual([['a', '1']]);
  expect(two.target.tenancies.size).toBe(1);
  expect((await one.migrate()).phase).toBe('Succeeded');
  expect((await two.record()).phase).not.toBe('Succeeded');
  expect((await two.migrate()).phase).toBe('Succeeded');
});
