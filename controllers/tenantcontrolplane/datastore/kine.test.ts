import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';
import { secretText } from '../shared/secret.ts';

async function config(world: TenantWorld): Promise<Readonly<Record<string, string>>> {
  const key = { namespace: 'default', name: 'tenant-datastore-config' };
  return secretText((await world.cluster.get<Secret>(kinds.Secret, key))?.data);
}

const kept = (world: TenantWorld): string | undefined => [...world.store.tenancies.values()][0]?.password;

describe('A tenant whose datastore is behind kine', () => {
  test('has in its Secret what kine needs, and the password that the datastore has', async () => {
    const world = new TenantWorld({ kine: true });
    await world.create();
    await world.settle();
    const found = await config(world);
    expect(found).toMatchObject({ DB_CONNECTION_STRING: 'etcd:2379', DB_PASSWORD: kept(world) });
    expect(found.DB_SCHEMA).toBe(found.DB_USER);
    expect((found.DB_PASSWORD ?? '').length).toBeGreaterThan(40);
    const { status } = await world.read();
    expect(status?.storage).toMatchObject({ driver: 'PostgreSQL', setup: { schema: found.DB_SCHEMA } });
    expect(JSON.stringify(status)).not.toContain(found.DB_PASSWORD);
  });

  test('keeps its password over restarts of the manager', async () => {
    const world = new TenantWorld({ kine: true });
    await world.create();
    await world.settle();
    const before = (await config(world)).DB_PASSWORD;
    world.restart();
    await world.settle();
    expect((await config(world)).DB_PASSWORD).toBe(before);
    expect(kept(world)).toBe(before);
  });

  test('has the right password after a crash between the Secret and the datastore', async () => {
    const world = new TenantWorld({ kine: true });
    await world.create();
    world.store.before = (call) => {
      if (call === 'ensure') throw new Error('killed');
    };
    await world.reconcile();
    const written = (await config(world)).DB_PASSWORD;
    expect(written).toMatch(/-/);
    expect(kept(world)).toBeUndefined();
    world.store.before = () => undefined;
    world.restart();
    await world.settle();
    expect((await config(world)).DB_PASSWORD).toBe(written);
    expect(kept(world)).toBe(written);
  });

  test('gets another password, in the datastore too, when its Secret loses it, and its pods are updated', async () => {
    const world = new TenantWorld({ kine: true });
    await world.create();
    await world.settle();
    const before = await config(world);
    const label = async (): Promise<unknown> =>
      (await world.cluster.get(kinds.Deployment, { namespace: 'default', name: 'tenant' }))?.spec?.template.metadata
        ?.annotations;
    const annotations = await label();
    const body = { data: { DB_PASSWORD: null } };
    await world.cluster.patch(
      kinds.Secret,
      { namespace: 'default', name: 'tenant-datastore-config' },
      { type: 'merge', body },
    );
    await world.settle();
    const after = await config(world);
    expect(after.DB_PASSWORD).not.toBe(before.DB_PASSWORD);
    expect(after.DB_SCHEMA).toBe(before.DB_SCHEMA);
    expect(kept(world)).toBe(after.DB_PASSWORD);
    expect(await label()).not.toEqual(annotations);
  });
});
