import { expect, test } from '@jest/globals';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { ownerReferenceOf } from '../../../api/meta.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { conditionOf, shopParent, shopTenant } from '../../../testing/builders/plugin-control-planes.ts';
import { PluginWorld } from '../../../testing/worlds/plugin-world.ts';

async function twoControlPlanes(): Promise<PluginWorld> {
  const world = await PluginWorld.create();
  const parent = await world.management.seed(stewardControlPlane, shopParent());
  const metadata = { ownerReferences: [ownerReferenceOf(parent)] };
  await world.management.seed(tenantControlPlane, shopTenant({ metadata }));
  await world.management.seed(
    tenantControlPlane,
    shopTenant({
      name: 'blog',
      spec: { kubernetes: { version: '1.36.3' } },
      status: {
        conditions: [conditionOf('Ready', 'False', 'UpgradeHeld', { message: 'a node is\ntoo old \u001b[31m' })],
      },
    }),
  );
  return world;
}

test('get lists every control plane once, with its versions and the reason of Ready', async () => {
  await using world = await twoControlPlanes();
  const { code, out } = await world.run('get');
  expect(code).toBe(0);
  expect(out.replaceAll(/ +\d+s *\n/g, ' AGE\n')).toBe(
    [
      'NAME   VERSION             PODS   ENDPOINT                DATASTORE   READY   REASON        AGE',
      'blog   v1.35.4 (v1.36.3)   3/3    shop.example.com:6443   default     False   UpgradeHeld AGE',
      'shop   v1.35.4             3/3    shop.example.com:6443   default     True    Ready AGE',
      '',
    ].join('\n'),
  );
});

test('get -o wide names the Cluster, and shows messages in one line without control characters', async () => {
  await using world = await twoControlPlanes();
  const { out } = await world.run('get -o wide -A');
  expect(out).toMatch(/^NAMESPACE +NAME /);
  expect(out).toMatch(/shop .* store +TenantControlPlane +<none>\n/);
  expect(out).toMatch(/blog .* TenantControlPlane +a node is too old \[31m\n/);
});

test('get -o wide says why a control plane sleeps, and for how long', async () => {
  await using world = await PluginWorld.create();
  const since = new Date(Date.now() - 5 * 86_400_000).toISOString();
  const sleepers: Readonly<Record<string, Parameters<typeof shopTenant>[0]>> = {
    idle: {
      spec: { sleep: { afterIdle: '30m' } },
      status: { sleep: { state: 'Asleep', since, reason: 'Use' }, conditions: [conditionOf('Asleep', 'True', 'Idle')] },
    },
    scaled: { spec: { controlPlane: { deployment: { replicas: 0 }, service: { serviceType: 'LoadBalancer' } } } },
    awake: {
      spec: { sleep: { afterIdle: '30m' } },
      status: {
        sleep: { state: 'Awake', since, reason: 'Use' },
        conditions: [conditionOf('Asleep', 'False', 'InUse')],
      },
    },
  };
  for (const [name, given] of Object.entries(sleepers))
    await world.management.seed(tenantControlPlane, shopTenant({ name, ...given }));
  const { out } = await world.run('get -o wide');
  const cells = out.split('\n').map((line) => line.split(/ {2,}/));
  const column = cells[0]?.indexOf('ASLEEP') ?? -1;
  expect(cells.slice(1, -1).map((row) => [row[0], row[column]])).toEqual([
    ['awake', '<none>'],
    ['idle', 'Idle 5d'],
    ['scaled', 'Requested'],
  ]);
});

test('get finds a control plane by the name of its Cluster', async () => {
  await using world = await twoControlPlanes();
  expect((await world.run('get store -o name')).out).toBe('tenantcontrolplane.steward.butlerlabs.dev/shop\n');
});

test('get shows a StewardControlPlane whose TenantControlPlane is on a hosting cluster', async () => {
  await using world = await PluginWorld.create();
  const status = { version: 'v1.35.4', readyReplicas: 2, conditions: [conditionOf('Ready', 'True', 'Ready')] };
  await world.management.seed(stewardControlPlane, shopParent({ status }));
  expect((await world.run('get')).out).toMatch(/shop +v1\.35\.4 +2\/3 .* True +Ready/);
  expect((await world.run('get shop -o name')).out).toBe('stewardcontrolplane.controlplane.cluster.x-k8s.io/shop\n');
});

test('get -o json prints one object as it is and several as a list, without managedFields', async () => {
  await using world = await twoControlPlanes();
  const one = JSON.parse((await world.run('get shop -o json')).out) as Record<string, unknown>;
  expect(one).toMatchObject({ kind: 'TenantControlPlane', metadata: { name: 'shop' } });
  expect(one).not.toHaveProperty('metadata.managedFields');
  const all = JSON.parse((await world.run('get -o json')).out) as { readonly items: readonly unknown[] };
  expect(all).toMatchObject({ kind: 'List', apiVersion: 'v1' });
  expect(all.items).toHaveLength(2);
});

test('get says that there is nothing, on the standard error', async () => {
  await using world = await PluginWorld.create();
  expect(await world.run('get')).toEqual({
    code: 0,
    out: '',
    notes: ['no control planes found in namespace tenants'],
  });
});

test('a control plane that does not exist is exit code 3', async () => {
  await using world = await PluginWorld.create();
  const { code, notes } = await world.run('get frob -n other');
  expect(code).toBe(3);
  expect(notes).toEqual([
    'kubectl steward: there is no TenantControlPlane, StewardControlPlane or Cluster "frob" in namespace other; kubectl steward get -A lists all',
  ]);
});

test('get works without Cluster API', async () => {
  await using world = await PluginWorld.create({ management: new FakeCluster({ absent: [stewardControlPlane] }) });
  await world.management.seed(tenantControlPlane, shopTenant());
  expect((await world.run('get -o name')).out).toBe('tenantcontrolplane.steward.butlerlabs.dev/shop\n');
});

test('colors appear only where they are wanted', async () => {
  const management = new FakeCluster();
  await management.seed(tenantControlPlane, shopTenant());
  await using plain = await PluginWorld.create({ management });
  await using colorful = await PluginWorld.create({ management, colors: true });
  expect((await plain.run('get')).out).not.toContain('\u001b');
  expect((await colorful.run('get')).out).toContain('\u001b[32mTrue\u001b[0m');
});
