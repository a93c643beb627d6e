import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { GoStewardWorld } from '../../../testing/worlds/go-steward-world.ts';
import { PluginWorld } from '../../../testing/worlds/plugin-world.ts';
import type { PluginRun } from '../../../testing/worlds/plugin-world.ts';

const writes = new Set(['create', 'apply', 'patch', 'delete']);

async function run(world: GoStewardWorld, words: string): Promise<PluginRun> {
  await using plugin = await PluginWorld.create({ management: world.cluster, clock: world.clock });
  return await plugin.run(`import ${words} --from=go-steward`);
}

const marksOf = async (world: GoStewardWorld, name: string): Promise<Readonly<Record<string, string>>> =>
  (await world.cluster.admin.get(tenantControlPlane, { namespace: 'tenants', name }))?.metadata.annotations ?? {};

const replicasOf = async (world: GoStewardWorld): Promise<number | undefined> =>
  (await world.cluster.admin.get(kinds.Deployment, { namespace: 'steward-system', name: 'steward' }))?.spec?.replicas;

const held = { 'steward.butlerlabs.dev/paused': 'kubectl-steward-import' };

describe('import from the Go Steward', () => {
  test('pauses every control plane, stops the manager, and says that Steward is to be installed now', async () => {
    const world = await GoStewardWorld.create();
    const { code, notes } = await run(world, 'shop --yes');
    expect(code).toBe(3);
    expect(notes.at(-1)).toContain('install Steward now, and run the same command again');
    expect(notes[0]).toContain('1 other TenantControlPlanes are paused with this one');
    expect(await marksOf(world, 'shop')).toMatchObject(held);
    expect(await marksOf(world, 'blog')).toEqual(held);
    expect(await replicasOf(world)).toBe(0);
  });

  test('then lets Steward adopt the one that was named, and compares what must not change', async () => {
    const world = await GoStewardWorld.create();
    await run(world, 'shop --yes');
    await world.install();
    const { code, out } = await run(world, 'shop --yes -o json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ result: 'imported', identity: { endpoint: '10.96.0.20:6443' } });
    expect(await marksOf(world, 'shop')).toEqual({});
    expect(await marksOf(world, 'blog')).toEqual(held);
    expect((await run(world, 'shop --yes')).notes).toEqual([
      'TenantControlPlane tenants/shop is managed by Steward already',
    ]);
    expect((await run(world, 'blog --yes')).code).toBe(0);
  });

  test('continues where it stopped, whichever write was the last', async () => {
    for (let last = 1; last < 30; last += 1) {
      const world = await GoStewardWorld.create();
      let made = 0;
      const remove = world.cluster.after(({ verb }) => {
        if (!writes.has(verb)) return;
        made += 1;
        if (made === last) throw new Error('the process has died');
      });
      const died = async (): Promise<boolean> =>
        run(world, 'shop --yes').then(
          () => false,
          () => true,
        );
      const first = await died();
      if (first) await died();
      await world.install();
      if (!(await died()) && !first) {
        expect(last).toBeGreaterThan(4);
        return;
      }
      remove();
      expect((await run(world, 'shop --yes')).code).toBe(0);
      expect(await marksOf(world, 'shop')).toEqual({});
      expect(await replicasOf(world)).toBe(0);
    }
    throw new Error('the import was never complete');
  }, 60_000);

  test('can be undone until Steward is installed', async () => {
    const world = await GoStewardWorld.create();
    await run(world, 'shop --yes');
    const { code } = await run(world, 'shop --undo --yes');
    expect(code).toBe(0);
    expect([await marksOf(world, 'shop'), await marksOf(world, 'blog')]).toEqual([{}, {}]);
    expect(await replicasOf(world)).toBe(1);
    await run(world, 'shop --yes');
    await world.install();
    expect((await run(world, 'shop --undo --yes')).notes.at(-1)).toContain('the manager of Steward is installed');
  });

  test('reports an endpoint that differs from the previous one', async () => {
    const world = await GoStewardWorld.create();
    await run(world, 'shop --yes');
    world.endpoint = '192.0.2.7:6443';
    await world.install();
    const { code, notes } = await run(world, 'shop --yes');
    expect(code).toBe(1);
    expect(notes.at(-1)).toContain('the endpoint was 10.96.0.20:6443 and is 192.0.2.7:6443');
  });

  test('names the address of a NodePort Service in the spec, so that the endpoint stays', async () => {
    const controlPlane = { deployment: { replicas: 2 }, service: { serviceType: 'NodePort' } };
    const world = await GoStewardWorld.create({ spec: { controlPlane } });
    await run(world, 'shop --yes');
    await world.install();
    expect((await run(world, 'shop --yes')).code).toBe(0);
    const tcp = await world.cluster.admin.get(tenantControlPlane, { namespace: 'tenants', name: 'shop' });
    expect(tcp?.spec.networkProfile.address).toBe('10.96.0.20');
  });

  test('with --dry-run shows the steps and the plan of the first reconcile, and writes nothing', async () => {
    const world = await GoStewardWorld.create();
    const { code, out } = await run(world, 'shop --dry-run');
    expect(code).toBe(0);
    expect(out).toContain('1. Pause every control plane of the Go Steward');
    expect(out).toContain('Plan for TenantControlPlane tenants/shop');
    expect(world.cluster.calls.filter(({ verb }) => writes.has(verb))).toEqual([]);
  });

  test('refuses a control plane whose data another one uses, too', async () => {
    const setup = { schema: 'tenants_blog', user: 'tenants_blog' };
    const world = await GoStewardWorld.create({
      status: { storage: { driver: 'PostgreSQL', dataStoreName: 'default', setup } },
    });
    const { code, notes } = await run(world, 'shop --yes');
    expect(code).toBe(1);
    expect(notes.at(-1)).toContain('shares its data (schema tenants_blog) with tenants/blog');
    expect(await replicasOf(world)).toBe(1);
  });

  test('refuses a control plane that is being migrated, and exits with 3 for what does not exist', async () => {
    const version = { version: 'v1.35.4', status: 'Migrating' };
    const world = await GoStewardWorld.create({ status: { kubernetesResources: { version } } });
    expect((await run(world, 'shop --yes')).notes.at(-1)).toContain('has the status Migrating');
    expect((await run(world, 'nobody --yes')).code).toBe(3);
  });
});
