import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { kamajiControlPlane } from '../../../testing/builders/kamaji-control-plane.ts';
import { ImportedWorld } from '../../../testing/worlds/imported-world.ts';
import { PluginWorld } from '../../../testing/worlds/plugin-world.ts';
import type { PluginRun } from '../../../testing/worlds/plugin-world.ts';
import { kamajiKinds } from '../import/kamaji-kinds.ts';

const key = { namespace: 'tenants', name: 'shop' };
const writes = new Set(['create', 'apply', 'patch', 'delete']);

async function run(world: ImportedWorld, words: string, answer?: boolean): Promise<PluginRun> {
  await using plugin = await PluginWorld.create({
    ...{ management: world.cluster, clock: world.clock },
    ...(answer !== undefined && { answer }),
  });
  return await plugin.run(`import shop --from=kamaji ${words}`);
}

const writesOf = (world: ImportedWorld): number =>
  world.cluster.calls.filter(({ verb, dryRun }) => writes.has(verb) && dryRun !== true).length;

/** How the control plane stands when Steward has it, and nothing of Kamaji is left but the labels of others. */
async function expectTaken(world: ImportedWorld): Promise<void> {
  const { admin } = world.cluster;
  const ours = await admin.get(tenantControlPlane, key);
  expect(await admin.get(kamajiKinds.controlPlane, key)).toBeUndefined();
  expect(ours?.metadata.annotations).toEqual({ team: 'blue' });
  expect(ours?.status?.storage).toMatchObject({ dataStoreName: 'default', setup: { schema: 'tenants_shop' } });
  const ca = await admin.get(kinds.Secret, { ...key, name: 'shop-ca' });
  expect(ca?.metadata.ownerReferences).toMatchObject([{ uid: ours?.metadata.uid, controller: true }]);
  expect(JSON.stringify(ca?.metadata)).not.toContain('kamaji');
  expect(await world.reached()).toEqual(['shop-new-a', 'shop-new-b']);
  expect((await admin.list(kinds.Pod, { namespace: 'tenants' })).items).toHaveLength(2);
  expect(world.dangers).toEqual([]);
  expect(world.outages).toEqual([]);
}

describe('import from Kamaji', () => {
  test('takes over data, CA and endpoint; at each moment the Service leads to a ready pod', async () => {
    const world = await ImportedWorld.create();
    const { code, out, notes } = await run(world, '--yes -o json');
    expect(notes.filter((note) => note.includes('kubectl steward:'))).toEqual([]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      ...{ from: 'kamaji', namespace: 'tenants', name: 'shop', result: 'imported' },
      identity: { endpoint: '10.96.0.20:6443', schema: 'tenants_shop', user: 'tenants_shop' },
    });
    await expectTaken(world);
    const store = await world.cluster.admin.get(dataStore, { name: 'default' });
    expect(store?.spec.endpoints).toEqual(['etcd-0:2379', 'etcd-1:2379']);
    const config = await world.cluster.admin.get(kinds.Secret, { ...key, name: 'shop-datastore-config' });
    expect(config?.metadata.finalizers).toEqual(['finalizer.steward.butlerlabs.dev/datastore-secret']);
  });

  test('continues where it stopped, whichever write was the last', async () => {
    const whole = await ImportedWorld.create();
    await run(whole, '--yes');
    const count = writesOf(whole);
    expect(count).toBeGreaterThan(15);
    for (let last = 1; last < count; last += 1) {
      const world = await ImportedWorld.create();
      let made = 0;
      const remove = world.cluster.after(({ verb, dryRun }) => {
        if (!writes.has(verb) || dryRun === true) return;
        made += 1;
        if (made === last) throw new Error('the process has died');
      });
      await expect(run(world, '--yes')).rejects.toThrow('the process has died');
      remove();
      expect((await run(world, '--yes')).code).toBe(0);
      await expectTaken(world);
    }
  }, 120_000);

  test('can be undone from each point at which the former pods run', async () => {
    for (let last = 1; last < 40; last += 1) {
      const world = await ImportedWorld.create();
      let made = 0;
      const remove = world.cluster.after(({ verb, dryRun }) => {
        if (!writes.has(verb) || dryRun === true) return;
        made += 1;
        if (made === last) throw new Error('the process has died');
      });
      await run(world, '--yes').catch(() => undefined);
      remove();
      const { admin } = world.cluster;
      const left = (await admin.list(kinds.ReplicaSet, { ...key, labelSelector: 'kamaji.clastix.io/name=shop' })).items;
      const { code, notes } = await run(world, '--undo --yes');
      if (left.length === 0) {
        expect(code).toBe(1);
        expect(notes.at(-1)).toMatch(/the former pods are gone|cannot be undone/);
        return;
      }
      expect(code).toBe(0);
      expect(await admin.get(tenantControlPlane, key)).toBeUndefined();
      const old = await admin.get(kamajiKinds.controlPlane, key);
      expect(old?.metadata.annotations).toEqual(kamajiControlPlane().metadata.annotations);
      expect(old?.metadata.finalizers).toEqual(kamajiControlPlane().metadata.finalizers);
      const ca = await admin.get(kinds.Secret, { ...key, name: 'shop-ca' });
      expect(ca?.metadata.ownerReferences).toMatchObject([{ uid: old?.metadata.uid }]);
      expect(JSON.stringify({ ...ca?.metadata, managedFields: [] })).not.toContain('steward');
      expect(await world.reached()).toEqual(['shop-old-a', 'shop-old-b']);
      expect([world.dangers, world.outages]).toEqual([[], []]);
    }
    throw new Error('the import was never complete');
  }, 120_000);

  test('with --dry-run writes nothing and lists the steps', async () => {
    const world = await ImportedWorld.create();
    const { code, out } = await run(world, '--dry-run');
    expect(code).toBe(0);
    expect(out).toContain('Plan to import tenants/shop (kamaji)');
    expect(out).toContain('1. Create a DataStore of Steward');
    expect(out).toContain(
      'Data:      DataStore default, schema tenants_shop, user tenants_shop'.replaceAll(/ +/g, ' '),
    );
    expect(writesOf(world)).toBe(0);
  });

  test('asks for confirmation first, and changes nothing without it', async () => {
    const world = await ImportedWorld.create();
    const refused = await run(world, '', false);
    expect(refused.notes).toEqual([
      'Import tenants/shop? --dry-run shows the steps.',
      'kubectl steward: nothing was changed',
    ]);
    expect((await run(world, '')).notes.at(-1)).toContain('There is no terminal to answer at: add --yes');
    expect(writesOf(world)).toBe(0);
    expect((await run(world, '', true)).code).toBe(0);
  });

  test.each([
    [
      'denies writes',
      { spec: { ...(kamajiControlPlane().spec as object), writePermissions: { blockCreation: true } } },
    ],
    ['has spec.dataStoreOverrides', { spec: { ...(kamajiControlPlane().spec as object), dataStoreOverrides: [{}] } }],
    ['has the status Migrating', { status: { kubernetesResources: { version: { status: 'Migrating' } } } }],
    ['belongs to KamajiControlPlane up', { metadata: { ownerReferences: [parent()] } }],
  ])('refuses a control plane that %s, and writes nothing', async (why, changes) => {
    const world = await ImportedWorld.create(changes);
    const { code, notes, out } = await run(world, '--yes');
    expect(code).toBe(1);
    expect(notes.at(-1)).toContain(why);
    expect(out).toContain('Cannot import tenants/shop');
    expect(writesOf(world)).toBe(0);
  });

  test('refuses data that another control plane of Kamaji uses, too', async () => {
    const world = await ImportedWorld.create();
    await world.cluster.seed(kamajiKinds.controlPlane, kamajiControlPlane({ name: 'shop-2' }));
    const { code, notes } = await run(world, '--yes');
    expect(code).toBe(1);
    expect(notes.at(-1)).toContain('shares its data (schema tenants_shop) with tenants/shop-2');
  });

  test('refuses the name of a control plane that Steward already has', async () => {
    const world = await ImportedWorld.create();
    await world.cluster.seed(tenantControlPlane, {
      apiVersion: 'steward.butlerlabs.dev/v1alpha1',
      kind: 'TenantControlPlane',
      metadata: key,
      spec: { controlPlane: { service: { serviceType: 'ClusterIP' } }, kubernetes: { version: 'v1.36.3' } },
    });
    const { code, notes } = await run(world, '--yes');
    expect(code).toBe(1);
    expect(notes.at(-1)).toContain('exists already and was not made by an import');
  });

  test('keeps the former pods, in the Service too, while the new ones do not start', async () => {
    const world = await ImportedWorld.create();
    world.plane.podsStart = false;
    const ending = new AbortController();
    await using plugin = await PluginWorld.create({
      management: world.cluster,
      clock: world.clock,
      signal: ending.signal,
    });
    plugin.onNote = (line) => {
      if (line.includes('waiting for the control plane to be Ready')) ending.abort(new Error('enough'));
      return Promise.resolve();
    };
    const { code } = await plugin.run('import shop --from=kamaji --yes');
    expect(code).toBe(130);
    expect(await world.reached()).toEqual(['shop-old-a', 'shop-old-b']);
    expect(world.outages).toEqual([]);
  });

  test('stops before the former pods are drained if the endpoint differs', async () => {
    const world = await ImportedWorld.create();
    world.plane.endpoint = '10.96.0.99:6443';
    const { code, notes } = await run(world, '--yes');
    expect(code).toBe(1);
    expect(notes.at(-1)).toContain('the endpoint was 10.96.0.20:6443 and is 10.96.0.99:6443');
    expect(notes.at(-1)).toContain('--undo');
    expect(await world.reached()).toContain('shop-old-a');
  });

  test('reports that everything was imported before, and exits with 3 for a control plane that does not exist', async () => {
    const world = await ImportedWorld.create();
    await run(world, '--yes');
    const again = await run(world, '--yes');
    expect(again.code).toBe(0);
    expect(again.notes).toEqual([
      'TenantControlPlane tenants/shop is managed by Steward, and there is no longer one of Kamaji',
    ]);
    await using plugin = await PluginWorld.create({ management: world.cluster, clock: world.clock });
    expect((await plugin.run('import nobody --from=kamaji --yes')).code).toBe(3);
  });
});

function parent(): Readonly<Record<string, unknown>> {
  const apiVersion = 'controlplane.cluster.x-k8s.io/v1alpha1';
  return { apiVersion, kind: 'KamajiControlPlane', name: 'up', uid: 'of-up', controller: true };
}
