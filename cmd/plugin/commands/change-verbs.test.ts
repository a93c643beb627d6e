import { describe, expect, test } from '@jest/globals';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { annotations } from '../../../api/names.ts';
import { ownerReferenceOf } from '../../../api/meta.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { conditionOf, pluginTime, shopParent, shopTenant } from '../../../testing/builders/plugin-control-planes.ts';
import { FakeClock } from '../../../testing/fake/fake-clock.ts';
import { PluginWorld } from '../../../testing/worlds/plugin-world.ts';

const key = { namespace: 'tenants', name: 'shop' };
const topology = {
  labels: { 'cluster.x-k8s.io/cluster-name': 'store', 'topology.cluster.x-k8s.io/owned': '' },
};

async function withTenant(): Promise<PluginWorld> {
  const world = await PluginWorld.create();
  await world.management.seed(tenantControlPlane, shopTenant());
  await world.management.seed(dataStore, {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'DataStore',
    metadata: { name: 'fast' },
    spec: {
      driver: 'PostgreSQL',
      endpoints: ['pg:5432'],
      basicAuth: { username: { content: 'YQ==' }, password: { content: 'YQ==' } },
    },
  });
  return world;
}

async function withParent(metadata: Readonly<Record<string, unknown>> = {}): Promise<PluginWorld> {
  const world = await PluginWorld.create();
  const parent = await world.management.seed(stewardControlPlane, shopParent({ metadata }));
  const ownerReferences = [ownerReferenceOf(parent)];
  await world.management.seed(tenantControlPlane, shopTenant({ metadata: { ownerReferences } }));
  return world;
}

const specOf = async (world: PluginWorld) => (await world.management.admin.get(tenantControlPlane, key))?.spec;
const parentOf = async (world: PluginWorld) => world.management.admin.get(stewardControlPlane, key);

/** What a manager reports, step by step, each after the plugin has shown the one before. */
function answer(world: PluginWorld, ...steps: readonly Readonly<Record<string, unknown>>[]): void {
  const left = [...steps];
  world.onNote = async (line) => {
    const status = line.startsWith('shop: ') ? left.shift() : undefined;
    if (status === undefined) return;
    const patch = { type: 'merge', body: { status } } as const;
    await world.management.admin.patch(tenantControlPlane, key, patch, { subresource: 'status' });
  };
}

describe('upgrade', () => {
  test('changes a TenantControlPlane and shows the conditions until the version is installed', async () => {
    await using world = await withTenant();
    const upgrading = [conditionOf('Ready', 'True', 'Upgrading', { message: 'new pods start', generation: 2 })];
    const ready = [conditionOf('Ready', 'True', 'Ready', { generation: 2 })];
    answer(
      world,
      { conditions: upgrading },
      { conditions: ready, kubernetesResources: { version: { version: 'v1.36.3', status: 'Ready' } } },
    );
    const { code, notes, out } = await world.run('upgrade shop 1.36.3 --timeout=20s');
    expect(notes).toEqual([
      'tenantcontrolplane.steward.butlerlabs.dev/shop will run v1.36.3',
      'shop: the manager has not seen the change yet',
      'shop: Upgrading: new pods start',
      'shop: runs v1.36.3',
    ]);
    expect({ code, out }).toEqual({ code: 0, out: '' });
  });

  test('fails when the rollout was rolled back to the previous pods', async () => {
    await using world = await withTenant();
    const message = 'the upgrade was rolled back to the previous pods: ImagePullBackOff';
    answer(world, {
      conditions: [conditionOf('UpgradeAllowed', 'False', 'RolloutFailed', { message, generation: 2 })],
    });
    const { code, notes } = await world.run('upgrade shop 1.36.3 --timeout=20s');
    expect(notes.at(-1)).toBe(`kubectl steward: ${message}`);
    expect(code).toBe(1);
  });

  test('says what an upgrade waited for when time is up, with exit code 3', async () => {
    await using world = await withTenant();
    const message = '1 node runs a kubelet that is too old';
    answer(world, {
      conditions: [conditionOf('UpgradeAllowed', 'False', 'KubeletsTooOld', { message, generation: 2 })],
    });
    const { code, notes } = await world.run('upgrade shop 1.36.3 --timeout=2s');
    expect(notes.at(-1)).toBe(
      `kubectl steward: not done within 2 s; allow more time with --timeout; last seen: KubeletsTooOld: ${message}`,
    );
    expect(code).toBe(3);
  });

  test.each(['--wait=false', '--no-wait'])('returns at once with %s', async (flag) => {
    await using world = await withTenant();
    expect((await world.run(`upgrade shop v1.36.3 ${flag}`)).code).toBe(0);
    expect((await specOf(world))?.kubernetes.version).toBe('v1.36.3');
  });

  test('changes the StewardControlPlane that owns the TenantControlPlane', async () => {
    await using world = await withParent();
    const { notes } = await world.run('upgrade shop v1.36.3 --wait=false');
    expect(notes).toEqual(['stewardcontrolplane.controlplane.cluster.x-k8s.io/shop will run v1.36.3']);
    expect((await parentOf(world))?.spec.version).toBe('v1.36.3');
    expect((await specOf(world))?.kubernetes.version).toBe('v1.35.4');
  });

  test('changes nothing below a topology, and names the field of the Cluster', async () => {
    await using world = await withParent(topology);
    const { code, notes } = await world.run('upgrade store v1.36.3');
    expect(notes).toEqual([
      'kubectl steward: Cluster store has a topology, which would undo a change of StewardControlPlane shop: change ' +
        'spec.topology.version of the Cluster, which also upgrades the workers: kubectl -n tenants patch cluster store ' +
        `--type merge --patch '{"spec":{"topology":{"version":"v1.36.3"}}}'`,
    ]);
    expect(code).toBe(1);
    expect((await parentOf(world))?.spec.version).toBe('v1.35.4');
  });

  test('refuses what is not a version before it connects', async () => {
    await using world = await withTenant();
    const { code, notes } = await world.run('upgrade shop latest');
    expect(notes).toEqual([
      expect.stringMatching(/^kubectl steward: version "latest" is not a Kubernetes version: use a /),
    ]);
    expect({ code, connections: world.connections }).toEqual({ code: 2, connections: [] });
  });
});

describe('migrate', () => {
  test('changes the DataStore and shows the phases', async () => {
    await using world = await withTenant();
    const migration = {
      source: { dataStoreName: 'default' },
      target: { dataStoreName: 'fast' },
      startedAt: pluginTime,
    };
    answer(
      world,
      { storage: { migration: { ...migration, phase: 'Copying', keys: 120, remaining: 30, rate: 60 } } },
      { storage: { migration: { ...migration, phase: 'Succeeded', pauseMs: 3200 } } },
    );
    const { code, notes } = await world.run('migrate shop --to fast --timeout=20s');
    expect(notes).toEqual([
      'tenantcontrolplane.steward.butlerlabs.dev/shop will have its data in fast',
      'shop: the migration has not begun yet',
      'shop: Copying (120 keys, 30 left, 60/s)',
      'shop: the data is in fast; writes were denied for 3.2 s',
    ]);
    expect(code).toBe(0);
  });

  test('fails with the reason of a failed migration', async () => {
    await using world = await withTenant();
    const migration = {
      source: { dataStoreName: 'default' },
      target: { dataStoreName: 'fast' },
      startedAt: pluginTime,
    };
    answer(world, { storage: { migration: { ...migration, phase: 'Failed', message: 'no space' } } });
    const { code, notes } = await world.run('migrate shop --to fast --timeout=20s');
    expect(notes.at(-1)).toBe('kubectl steward: the migration to fast failed: no space; --retry tries it again');
    expect(code).toBe(1);
  });

  test('tries a failed migration again only on request', async () => {
    await using world = await withTenant();
    const migration = {
      source: { dataStoreName: 'default' },
      target: { dataStoreName: 'fast' },
      startedAt: pluginTime,
    };
    const storage = { migration: { ...migration, phase: 'Failed', message: 'no space' } };
    await world.management.seed(tenantControlPlane, shopTenant({ spec: { dataStore: 'fast' }, status: { storage } }));
    const { code, notes } = await world.run('migrate shop --to fast');
    expect(notes).toEqual(['kubectl steward: the migration to fast failed: no space; --retry tries it again']);
    expect(code).toBe(1);
    expect((await world.run('migrate shop --to fast --retry --wait=false')).code).toBe(0);
    const { metadata } = (await world.management.admin.get(tenantControlPlane, key)) ?? {};
    expect(metadata?.annotations?.[annotations.retryMigration]).toMatch(/^\d{4}-.*Z$/);
  });

  test('refuses a DataStore that does not exist', async () => {
    await using world = await withTenant();
    const { code, notes } = await world.run('migrate shop --to slow');
    expect(notes).toEqual(['kubectl steward: there is no DataStore "slow"; kubectl steward datastore ls lists all']);
    expect(code).toBe(3);
  });
});

describe('sleep and wake', () => {
  test('wake returns to the number of pods that there was before sleep', async () => {
    await using world = await withTenant();
    await world.run('sleep shop --wait=false');
    const asleep = await world.management.admin.get(tenantControlPlane, key);
    expect(asleep?.spec.controlPlane.deployment.replicas).toBe(0);
    expect(asleep?.metadata.annotations).toEqual({ [annotations.replicasBeforeSleep]: '3' });
    await world.run('wake shop --wait=false');
    const awake = await world.management.admin.get(tenantControlPlane, key);
    expect(awake?.spec.controlPlane.deployment.replicas).toBe(3);
    expect(awake?.metadata.annotations ?? {}).toEqual({});
  });

  test('a second sleep does not forget the number', async () => {
    await using world = await withParent();
    await world.run('sleep shop --wait=false');
    const { code, notes } = await world.run('sleep shop --wait=false');
    expect({ code, notes }).toEqual({ code: 0, notes: ['shop already has 0 replicas'] });
    await world.run('wake shop --wait=false');
    expect((await parentOf(world))?.spec.replicas).toBe(3);
  });

  test('sleep waits until the last pod has ended', async () => {
    await using world = await withTenant();
    const conditions = [conditionOf('Ready', 'True', 'Sleeping', { generation: 2 })];
    answer(
      world,
      { conditions, kubernetesResources: { deployment: { replicas: 0, terminatingReplicas: 2 } } },
      { conditions, kubernetesResources: { deployment: { replicas: 0, terminatingReplicas: 0 } } },
    );
    const { notes } = await world.run('sleep shop --timeout=20s');
    expect(notes.slice(-2)).toEqual(['shop: 2 pods are ending', 'shop: sleeps']);
  });

  test('one pod is counted as one', async () => {
    await using world = await withTenant();
    await world.run('sleep shop --wait=false');
    const woken = await world.run('wake shop --replicas=1 --wait=false');
    expect(woken.notes.at(-1)).toMatch(/ will run 1 pod$/);
    const again = await world.run('wake shop --wait=false');
    expect(again.notes.at(-1)).toMatch(/ its spec has 1 pod$/);
    const asleep = await world.run('sleep shop --wait=false');
    expect(asleep.notes.at(-1)).toMatch(/ starts its 1 pod again$/);
    const conditions = [conditionOf('Ready', 'True', 'Sleeping', { generation: 4 })];
    answer(
      world,
      { conditions, kubernetesResources: { deployment: { replicas: 0, terminatingReplicas: 1 } } },
      { conditions, kubernetesResources: { deployment: { replicas: 0, terminatingReplicas: 0 } } },
    );
    const { notes } = await world.run('sleep shop --timeout=20s');
    expect(notes.slice(-2)).toEqual(['shop: 1 pod is ending', 'shop: sleeps']);
  });

  test('wake accepts the number of pods', async () => {
    await using world = await withTenant();
    await world.run('sleep shop --wait=false');
    await world.run('wake shop --wait=false --replicas=5');
    expect((await specOf(world))?.controlPlane.deployment.replicas).toBe(5);
  });

  test('sleep --until and wake set annotations, and leave the spec to whoever writes it', async () => {
    await using world = await withParent(topology);
    const asleep = await world.run('sleep store --until=2030-01-01T08:00:00+01:00 --wait=false');
    expect(asleep.notes).toEqual([
      'stewardcontrolplane.controlplane.cluster.x-k8s.io/shop will sleep until 2030-01-01T07:00:00Z',
    ]);
    expect((await parentOf(world))?.metadata.annotations).toEqual({ [annotations.sleepUntil]: '2030-01-01T07:00:00Z' });
    const sleep = { state: 'Asleep', since: pluginTime, reason: 'Manual', nextTransitionTime: '2030-01-01T07:00:00Z' };
    const patch = { type: 'merge', body: { status: { sleep } } } as const;
    await world.management.admin.patch(tenantControlPlane, key, patch, { subresource: 'status' });
    const awake = await world.run('wake store --wait=false');
    expect(awake.notes.at(-1)).toMatch(/ will be awake until 2030-01-01T07:00:00Z$/);
    expect((await parentOf(world))?.metadata.annotations).toEqual({ [annotations.wakeUntil]: '2030-01-01T07:00:00Z' });
    expect((await parentOf(world))?.spec.replicas).toBe(3);
  });

  test('wake keeps one that sleeps for lack of use awake for as long as afterIdle says, or until another time', async () => {
    const clock = new FakeClock(new Date('2030-01-01T12:00:00Z'));
    await using world = await PluginWorld.create({ clock });
    const status = { sleep: { state: 'Asleep', since: '2030-01-01T08:00:00Z', reason: 'Use' } };
    const manifest = shopTenant({ spec: { sleep: { afterIdle: '1h30m' } }, status });
    await world.management.seed(tenantControlPlane, manifest);
    const { notes } = await world.run('wake shop --wait=false');
    expect(notes).toEqual(['tenantcontrolplane.steward.butlerlabs.dev/shop will be awake until 2030-01-01T13:30:00Z']);
    await world.run('wake shop --wait=false --until=2030-01-01T20:00:00Z');
    const woken = await world.management.admin.get(tenantControlPlane, key);
    expect(woken?.metadata.annotations).toEqual({ [annotations.wakeUntil]: '2030-01-01T20:00:00Z' });
    expect(woken?.spec.controlPlane.deployment.replicas).toBe(3);
  });

  const nights = { schedules: [{ sleep: '0 20 * * *', wake: '0 7 * * *' }], wakeOn: ['Request'] } as const;
  const idleNights = { ...nights, afterIdle: '30m' };
  test.each([
    ['in its time to sleep, until that ends', '2030-01-01T22:00:00Z', nights, '2030-01-02T07:00:00Z'],
    ['after it, until the next one begins', '2030-01-02T09:00:00Z', nights, '2030-01-02T20:00:00Z'],
    ['after it, for as long as afterIdle says', '2030-01-02T09:00:00Z', idleNights, '2030-01-02T09:30:00Z'],
    ['in it, whatever afterIdle says', '2030-01-01T22:00:00Z', idleNights, '2030-01-02T07:00:00Z'],
  ])('wake keeps one awake whose schedules do not wake it up: %s', async (_name, now, sleep, until) => {
    const clock = new FakeClock(new Date(now));
    await using world = await PluginWorld.create({ clock });
    const status = { sleep: { state: 'Asleep', since: '2030-01-01T20:00:00Z', reason: 'Schedule', port: 20_001 } };
    await world.management.seed(tenantControlPlane, shopTenant({ spec: { sleep }, status }));
    const { notes } = await world.run('wake shop --wait=false');
    expect(notes).toEqual([`tenantcontrolplane.steward.butlerlabs.dev/shop will be awake until ${until}`]);
  });

  test('wake needs a time for one of which nobody can know when it would wake up', async () => {
    await using world = await PluginWorld.create();
    const status = { sleep: { state: 'Asleep', since: pluginTime, reason: 'Schedule' } };
    await world.management.seed(tenantControlPlane, shopTenant({ status }));
    const { code, notes } = await world.run('wake shop --wait=false');
    expect([code, notes.join()]).toEqual([
      1,
      expect.stringContaining('say until when it is to be awake, with --until'),
    ]);
  });

  test('wake --wait says that it sleeps for lack of use, until its manager has seen the annotation', async () => {
    await using world = await PluginWorld.create();
    const asleep = { sleep: { state: 'Asleep', since: pluginTime, reason: 'Use' } };
    const spec = { sleep: { afterIdle: '30m' } };
    await world.management.seed(tenantControlPlane, shopTenant({ spec, status: asleep }));
    const awake = { sleep: { state: 'Awake', since: pluginTime, reason: 'Manual' } };
    answer(world, { ...awake, conditions: [conditionOf('Ready', 'True', 'Ready', { generation: 1 })] });
    const { code, notes } = await world.run('wake shop --timeout=20s');
    expect(notes.slice(1)).toEqual([
      'shop: nobody has used it for 30m; kubectl steward wake --until wakes it up',
      'shop: is Ready',
    ]);
    expect(code).toBe(0);
  });

  test('sleep --until shows what delays it, and ends when the last pod has', async () => {
    await using world = await withTenant();
    const delayed = conditionOf('Asleep', 'False', 'WorkUnderWay', { message: 'it is being upgraded' });
    const sleep = { state: 'Asleep', since: pluginTime, reason: 'Manual' };
    const conditions = [conditionOf('Ready', 'False', 'Sleeping')];
    answer(
      world,
      { conditions: [delayed] },
      { sleep, conditions, kubernetesResources: { deployment: { replicas: 1 } } },
      { sleep, conditions, kubernetesResources: { deployment: { replicas: 0 } } },
    );
    const { notes } = await world.run('sleep shop --until=2030-01-01T07:00:00Z --timeout=20s');
    expect(notes.slice(1)).toEqual([
      'shop: the manager has not seen the change yet',
      'shop: WorkUnderWay: it is being upgraded',
      'shop: 1 pod is ending',
      'shop: sleeps',
    ]);
  });

  test('a time without a time zone is refused before a connection is made', async () => {
    await using world = await withTenant();
    const { code, notes } = await world.run('wake shop --until=2030-01-01T07:00:00');
    expect({ code, connections: world.connections }).toEqual({ code: 2, connections: [] });
    expect(notes.join()).toContain('use a time such as 2030-01-01T07:00:00Z.');
  });

  test('below a topology they name the field of the Cluster', async () => {
    await using world = await withParent(topology);
    const { notes } = await world.run('sleep shop');
    expect(notes.join()).toMatch(/spec\.topology\.controlPlane\.replicas of the Cluster: .*"replicas":0/);
  });
});
