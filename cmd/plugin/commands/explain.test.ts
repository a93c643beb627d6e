import { expect, test } from '@jest/globals';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { conditionOf, shopTenant } from '../../../testing/builders/plugin-control-planes.ts';
import { PluginWorld } from '../../../testing/worlds/plugin-world.ts';

async function held(): Promise<PluginWorld> {
  const world = await PluginWorld.create();
  const conditions = [
    conditionOf('UpgradeAllowed', 'False', 'KubeletsTooOld', { message: 'node-1 runs a kubelet v1.32.1' }),
    conditionOf('ControlPlaneAvailable', 'True', 'Succeeded'),
    conditionOf('Ready', 'True', 'UpgradeHeld'),
  ];
  await world.management.seed(tenantControlPlane, shopTenant({ status: { conditions } }));
  return world;
}

test('explain shows the steps, the cause and what to do', async () => {
  await using world = await held();
  const { code, out } = await world.run('explain shop');
  expect(code).toBe(0);
  expect(out).toContain('TenantControlPlane tenants/shop');
  expect(out).toMatch(/UpgradeAllowed/);
  expect(out).toContain('What to do');
});

test('explain writes the same as JSON', async () => {
  await using world = await held();
  const { out } = await world.run('explain shop -o json');
  expect(JSON.parse(out)).toMatchObject({ kind: 'TenantControlPlane', namespace: 'tenants', name: 'shop' });
});

test('explain of a name that does not exist exits with 3 and says where to look', async () => {
  await using world = await PluginWorld.create();
  const { code, notes } = await world.run('explain nobody');
  expect(code).toBe(3);
  expect(notes.join('\n')).toContain('there is no TenantControlPlane, StewardControlPlane or Cluster "nobody"');
});
