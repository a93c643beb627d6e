import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { kinds } from '../../../../api/core/kinds.ts';
import { TenantWorld } from '../../../../testing/worlds/tenant-world.ts';

const place = { namespace: 'kube-public', name: 'local-registry-hosting' };
const host = 'localhost:5000';
const help = 'https://wiki.example.org/registry';

async function running(localRegistry: { readonly host: string; readonly help?: string }): Promise<TenantWorld> {
  const world = new TenantWorld();
  await world.create({ spec: { dataStore: 'default', addons: { localRegistry } } });
  await world.settle();
  return world;
}

async function hosting(world: TenantWorld): Promise<unknown> {
  const found = await world.tenant.admin.get(kinds.ConfigMap, place);
  return found === undefined ? undefined : parse(found.data?.['localRegistryHosting.v1'] ?? '');
}

async function change(world: TenantWorld, localRegistry: object | null): Promise<void> {
  await world.change({ spec: { addons: { localRegistry } } });
  await world.settle();
}

describe('the local registry', () => {
  test('is in the ConfigMap of KEP-1755 inside the tenant, with condition and status', async () => {
    const world = await running({ host, help });
    expect(await hosting(world)).toEqual({ host, help });
    expect(await world.condition('AddonsReady')).toBe('True');
    const status = (await world.read()).status?.addons?.localRegistry;
    expect(status).toEqual({ enabled: true, lastUpdate: expect.any(String) });
  });

  test('has no help if nobody wrote one, and any text stays one value', async () => {
    const hostile = 'localhost:5000"\nhelp: "https://elsewhere.example.org';
    expect(await hosting(await running({ host: hostile }))).toEqual({ host: hostile });
  });

  test('follows the spec, and is removed when the add-on is switched off', async () => {
    const world = await running({ host, help });
    await change(world, { host: 'registry.example.org' });
    expect(await hosting(world)).toEqual({ host: 'registry.example.org', help });
    await change(world, null);
    expect(await hosting(world)).toBeUndefined();
    expect((await world.read()).status?.addons?.localRegistry).toMatchObject({ enabled: false });
    expect(await world.condition('AddonsReady')).toBe('True');
  });
});
