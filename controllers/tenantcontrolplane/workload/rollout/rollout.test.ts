import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { kinds } from '../../../../api/core/kinds.ts';
import { annotations } from '../../../../api/names.ts';
import { konnectivityAddon } from '../../../../testing/builders/konnectivity-addon.ts';
import { FakeCluster } from '../../../../testing/fake/fake-cluster.ts';
import { ApiError } from '../../../../runtime/client/errors.ts';
import { ObjectMemory } from '../../../../runtime/cache/object-memory.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import { FakeClock } from '../../../../testing/fake/fake-clock.ts';
import { StartQueue } from '../start-queue.ts';
import { RollingPods } from '../../../../testing/worlds/rolling-pods.ts';
import { TenantWorld } from '../../../../testing/worlds/tenant-world.ts';
import { hashLabel } from './rollout-facts.ts';
import { patience } from './rollout-step.ts';

const old = { kubernetes: { version: 'v1.35.4' } } as const;
const next = { spec: { kubernetes: { version: 'v1.36.3' } } };
const key = { namespace: 'default', name: 'tenant' };

interface Stage {
  readonly world: TenantWorld;
  readonly rolling: RollingPods;
  /** The hash of the pods before any change. */
  readonly before: string;
}

/** A control plane with its pods, at rest. */
async function running(replicas = 2, world = new TenantWorld()): Promise<Stage> {
  const rolling = new RollingPods(world);
  await world.create(old);
  await world.change({ spec: { controlPlane: { deployment: { replicas } } } });
  for (let round = 0; round < 6; round += 1) {
    await world.reconcile();
    await rolling.deploymentController();
    await rolling.kubelets();
    await rolling.deploymentController();
    await rolling.sliceController();
  }
  await world.settle();
  return { world, rolling, before: rolling.hashOf(await world.deployment()) };
}

const selected = async ({ world }: Stage): Promise<string | undefined> =>
  (await world.cluster.admin.get(kinds.Service, key))?.spec?.selector?.[hashLabel];

const hashes = async ({ rolling }: Stage): Promise<readonly string[]> =>
  [...new Set((await rolling.pods()).map(({ metadata }) => metadata.labels?.[hashLabel] ?? ''))].toSorted();

/** Everything but the manager works until nothing changes anymore. */
async function cluster({ rolling }: Stage): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await rolling.deploymentController();
    await rolling.kubelets();
    await rolling.deploymentController();
    await rolling.sliceController();
  }
}

/** An upgrade whose new pods exist, as the manager has not seen yet. */
async function begun(stage: Stage): Promise<void> {
  await stage.world.change(next);
  await stage.world.reconcile();
  await cluster(stage);
}

/** Manager and cluster work in turns. */
async function settled(stage: Stage): Promise<void> {
  for (let round = 0; round < 12; round += 1) {
    await stage.world.reconcile();
    await cluster(stage);
    await stage.world.clock.advance(500);
  }
}

/** What must hold for a Deployment at rest. */
async function expectRest(stage: Stage): Promise<void> {
  const deployment = await stage.world.deployment();
  expect(deployment?.spec?.minReadySeconds).toBeUndefined();
  expect(deployment?.spec?.progressDeadlineSeconds).toBeUndefined();
  expect(deployment?.metadata.annotations?.[annotations.rollout]).toBeUndefined();
  expect(await selected(stage)).toBeUndefined();
}

describe('A rollout', () => {
  test('narrows the Service before the new pods are created, and keeps the old pods until it is switched', async () => {
    const stage = await running();
    await stage.world.change(next);
    await stage.world.reconcile();
    expect(await selected(stage)).toBe(stage.before);
    expect((await stage.world.deployment())?.spec?.minReadySeconds).toBe(2_147_483_646);
    await cluster(stage);
    const after = stage.rolling.hashOf(await stage.world.deployment());
    expect(after).not.toBe(stage.before);
    expect(await hashes(stage)).toEqual([stage.before, after].toSorted());
    expect((await stage.rolling.sliceController()).hashes).toEqual([stage.before]);
    await stage.world.reconcile();
    expect(await selected(stage)).toBe(after);
    expect(await hashes(stage)).toEqual([stage.before, after].toSorted());
    expect(await stage.world.state()).toBe('Upgrading');
  });

  test('ends the old pods once the slices name new ones alone, and leaves Service and Deployment as they were', async () => {
    const stage = await running();
    await stage.world.change(next);
    await settled(stage);
    const after = stage.rolling.hashOf(await stage.world.deployment());
    expect(await hashes(stage)).toEqual([after]);
    await expectRest(stage);
    expect(await stage.world.state()).toBe('Ready');
    expect((await stage.world.read()).status?.kubernetesResources?.version?.version).toBe('v1.36.3');
  });

  test('does not end the old pods while the slices still name one, or before the new ones were seen for a moment', async () => {
    const stage = await running();
    await begun(stage);
    await stage.world.reconcile();
    await stage.world.clock.advance(10_000);
    for (let round = 0; round < 4; round += 1) {
      await stage.world.reconcile();
      await stage.world.clock.advance(10_000);
    }
    expect((await stage.world.deployment())?.spec?.minReadySeconds).toBe(2_147_483_646);
    await stage.rolling.sliceController();
    stage.world.restart();
    await stage.world.reconcile();
    expect((await stage.world.deployment())?.spec?.minReadySeconds).toBe(2_147_483_646);
    await stage.world.clock.advance(patience.observedMs);
    await stage.world.reconcile();
    expect((await stage.world.deployment())?.spec?.minReadySeconds).toBeUndefined();
  });

  test('happens for changed arguments as well, and not for a change that replaces no pods', async () => {
    const stage = await running();
    await stage.world.change({ spec: { controlPlane: { deployment: { replicas: 3 } } } });
    await stage.world.reconcile();
    expect(await selected(stage)).toBeUndefined();
    await settled(stage);
    const extraArgs = { apiServer: ['--v=3'] };
    await stage.world.change({ spec: { controlPlane: { deployment: { extraArgs } } } });
    await stage.world.reconcile();
    expect(await selected(stage)).toBe(stage.before);
    await settled(stage);
    await expectRest(stage);
    expect(await stage.rolling.pods()).toHaveLength(3);
  });

  test('is a plain one where the author lets pods be missing, where no pod is ready, and for a control plane that sleeps', async () => {
    const rollingUpdate = { maxUnavailable: 1, maxSurge: 1 };
    const strategies = [
      { type: 'Recreate', rollingUpdate: null },
      { type: 'RollingUpdate', rollingUpdate },
    ];
    for (const strategy of strategies) {
      const stage = await running();
      await stage.world.change({ spec: { controlPlane: { deployment: { strategy } } } });
      await settled(stage);
      await stage.world.change(next);
      await stage.world.reconcile();
      expect([await selected(stage), (await stage.world.deployment())?.spec?.minReadySeconds]).toEqual([
        undefined,
        undefined,
      ]);
    }
    const stage = await running();
    for (const { metadata } of await stage.rolling.pods())
      await stage.world.cluster.admin.delete(kinds.Pod, { namespace: 'default', name: metadata.name });
    await stage.world.change(next);
    await stage.world.reconcile();
    expect((await stage.world.deployment())?.spec?.minReadySeconds).toBeUndefined();
  });

  test('makes a dry run to see whether pods change only when the Deployment is not known to be as it should be, and once for each process', async () => {
    const stage = await running();
    const asked = (): number => stage.world.cluster.calls.filter(({ dryRun }) => dryRun === true).length;
    expect(asked()).toBe(0);
    stage.world.restart();
    for (let round = 0; round < 3; round += 1) await stage.world.reconcile();
    expect(asked()).toBe(0);
    const { metadata } = (await stage.world.deployment()) ?? {};
    // The label belongs to whoever changed it, although it is as before.
    for (const own of [{ 'steward.butlerlabs.dev/project': 'x' }, metadata?.labels]) {
      const body = { metadata: { labels: own } };
      await stage.world.cluster.admin.patch(
        kinds.Deployment,
        { namespace: 'default', name: 'tenant' },
        { type: 'merge', body },
      );
    }
    stage.world.restart();
    for (let round = 0; round < 3; round += 1) await stage.world.reconcile();
    expect(asked()).toBe(1);
    await expectRest(stage);
  });
});

describe('Annotations of an author on the Deployment', () => {
  test('are not mistaken for the record of a rollout', async () => {
    const stage = await running();
    const record = `2020-01-01T00:00:00Z ${'0'.repeat(32)}`;
    const given = {
      [annotations.rollout]: record,
      [annotations.failedRollout]: `${record} because`,
      'example.org/a': 'b',
    };
    await stage.world.change({
      spec: { controlPlane: { deployment: { additionalMetadata: { annotations: given } } } },
    });
    await settled(stage);
    await expectRest(stage);
    const { metadata } = (await stage.world.deployment()) ?? {};
    expect(metadata?.annotations?.['example.org/a']).toBe('b');
    expect(metadata?.annotations?.[annotations.failedRollout]).toBeUndefined();
    expect(await stage.world.condition('UpgradeAllowed')).toBe('True');
  });
});

describe('New pods that do not become ready', () => {
  test('are given up after a while, with the reason, and the previous ones continue', async () => {
    const stage = await running();
    stage.rolling.trouble = (hash) => (hash === stage.before ? undefined : 'ImagePullBackOff');
    await begun(stage);
    await stage.world.reconcile();
    await stage.world.clock.advance(patience.brokenMs - 1000);
    await stage.world.reconcile();
    expect(stage.rolling.hashOf(await stage.world.deployment())).not.toBe(stage.before);
    await stage.world.clock.advance(1000);
    await stage.world.reconcile();
    await cluster(stage);
    expect(await hashes(stage)).toEqual([stage.before]);
    const message = await stage.world.condition('UpgradeAllowed');
    expect(message).toMatch(
      /^False RolloutFailed: the upgrade from v1\.35\.4 to v1\.36\.3 was rolled back to the previous pods/,
    );
    expect(message).toContain('container kube-apiserver: ImagePullBackOff: no');
    await stage.world.reconcile();
    await cluster(stage);
    await stage.world.settle();
    expect(await selected(stage)).toBeUndefined();
    expect((await stage.world.read()).status?.kubernetesResources?.version).toEqual({
      status: 'Ready',
      version: 'v1.35.4',
    });
    expect(await stage.world.condition('Ready')).toBe('True');
  });

  test('are tried again after ten minutes, then after twice as long each time, and at once when the spec changes', async () => {
    const stage = await running();
    stage.rolling.trouble = (hash) => (hash === stage.before ? undefined : 'CrashLoopBackOff');
    await stage.world.change(next);
    const fail = async (): Promise<void> => {
      await stage.world.reconcile();
      await cluster(stage);
      await stage.world.reconcile();
      await stage.world.clock.advance(patience.brokenMs);
      await stage.world.reconcile();
      await cluster(stage);
      await stage.world.reconcile();
      expect(stage.rolling.hashOf(await stage.world.deployment())).toBe(stage.before);
    };
    await fail();
    await stage.world.clock.advance(590_000);
    await stage.world.reconcile();
    expect(stage.rolling.hashOf(await stage.world.deployment())).toBe(stage.before);
    await stage.world.clock.advance(10_000);
    await fail();
    await stage.world.clock.advance(1_190_000);
    await stage.world.reconcile();
    expect(stage.rolling.hashOf(await stage.world.deployment())).toBe(stage.before);
    await stage.world.clock.advance(10_000);
    await fail();
    stage.rolling.trouble = () => undefined;
    await stage.world.change({ spec: { controlPlane: { deployment: { extraArgs: { apiServer: ['--v=3'] } } } } });
    await settled(stage);
    await expectRest(stage);
    expect(await stage.world.condition('UpgradeAllowed')).toBe('True');
    expect((await stage.world.read()).status?.kubernetesResources?.version?.version).toBe('v1.36.3');
    expect((await stage.world.deployment())?.metadata.annotations?.[annotations.failedRollout]).toBeUndefined();
  });

  test('are given up also when their error disappears between two attempts', async () => {
    const stage = await running();
    const fails = (reason: string) => (hash: string) => (hash === stage.before ? undefined : reason);
    await stage.world.change(next);
    for (let round = 0; round < 10; round += 1) {
      stage.rolling.trouble = fails(round % 2 === 0 ? 'ErrImagePull' : 'ContainerCreating');
      await stage.world.reconcile();
      await cluster(stage);
      await stage.world.clock.advance(6_000);
    }
    expect(await stage.world.condition('UpgradeAllowed')).toContain('RolloutFailed');
  });

  test('may take ten minutes when they are only slow', async () => {
    const stage = await running();
    stage.rolling.trouble = (hash) => (hash === stage.before ? undefined : 'ContainerCreating');
    await begun(stage);
    await stage.world.clock.advance(patience.slowMs - 1000);
    await stage.world.reconcile();
    expect(stage.rolling.hashOf(await stage.world.deployment())).not.toBe(stage.before);
    await stage.world.clock.advance(1000);
    await stage.world.reconcile();
    expect(stage.rolling.hashOf(await stage.world.deployment())).toBe(stage.before);
    expect(await stage.world.condition('UpgradeAllowed')).toContain('were not ready after 10 minutes');
  });

  test('are replaced at once by those of a better spec, and a spec as before ends the rollout', async () => {
    const stage = await running();
    stage.rolling.trouble = (hash) => (hash === stage.before ? undefined : 'ImagePullBackOff');
    await stage.world.change({ spec: { controlPlane: { deployment: { extraArgs: { apiServer: ['--v=3'] } } } } });
    await stage.world.reconcile();
    await cluster(stage);
    await stage.world.change({ spec: { controlPlane: { deployment: { extraArgs: null } } } });
    await settled(stage);
    expect(await hashes(stage)).toEqual([stage.before]);
    await expectRest(stage);
  });

  test('get connections after ten minutes if there is room for some of them only', async () => {
    const stage = await running();
    await stage.world.change(next);
    await stage.world.reconcile();
    await stage.rolling.deploymentController();
    await stage.rolling.kubelets();
    const after = stage.rolling.hashOf(await stage.world.deployment());
    const [first] = (await stage.rolling.pods()).filter(({ metadata }) => metadata.labels?.[hashLabel] === after);
    const pending = { status: { conditions: [{ type: 'Ready', status: 'False' }] } };
    const at = { namespace: 'default', name: first?.metadata.name ?? '' };
    await stage.world.cluster.admin.patch(kinds.Pod, at, { type: 'merge', body: pending }, { subresource: 'status' });
    await stage.rolling.deploymentController();
    await stage.world.reconcile();
    expect(await selected(stage)).toBe(stage.before);
    await stage.world.clock.advance(patience.slowMs);
    await stage.world.reconcile();
    expect(await selected(stage)).toBe(after);
  });

  test('are not excluded from the Service when the record of the rollout is removed', async () => {
    const stage = await running();
    await begun(stage);
    const record = { metadata: { annotations: { [annotations.rollout]: null } } };
    await stage.world.cluster.admin.patch(kinds.Deployment, key, { type: 'merge', body: record });
    await stage.rolling.deploymentController();
    await stage.world.reconcile();
    expect(await selected(stage)).toBeUndefined();
  });

  test('that fail when they get connections are left again', async () => {
    const stage = await running();
    await begun(stage);
    await stage.world.reconcile();
    await stage.rolling.sliceController();
    stage.rolling.trouble = (hash) => (hash === stage.before ? undefined : 'CrashLoopBackOff');
    await stage.rolling.kubelets();
    await stage.world.reconcile();
    expect(await selected(stage)).toBe(stage.before);
    expect(stage.rolling.hashOf(await stage.world.deployment())).toBe(stage.before);
    expect(await stage.world.condition('UpgradeAllowed')).toContain('stopped being ready when they got connections');
  });
});

describe('New pods of a control plane with konnectivity', () => {
  const pods = '/api/v1/namespaces/kube-system/pods';
  const isEarly = { labelSelector: 'endpointslice.kubernetes.io/managed-by=steward.butlerlabs.dev' };

  /** A tenant whose API servers reach its nodes while an agent is connected to them. */
  async function tunneled(says: { answer: string | ApiError }): Promise<Stage> {
    const tenant = new FakeCluster({
      texts: {
        '/metrics': '',
        '/api/v1/nodes': JSON.stringify({ kind: 'NodeList', items: [] }),
        [pods]: JSON.stringify({ items: [{ metadata: { name: '../escape' } }, { metadata: { name: 'agent-x' } }] }),
        [`${pods}/http:agent-x:8134/proxy/healthz`]: () => {
          if (typeof says.answer !== 'string') throw says.answer;
          return says.answer;
        },
      },
    });
    const stage = await running(2, new TenantWorld({ openTenant: tenant.open }));
    await stage.world.change({ spec: { addons: { konnectivity: konnectivityAddon() } } });
    await settled(stage);
    return { ...stage, before: stage.rolling.hashOf(await stage.world.deployment()) };
  }

  const early = async ({ world }: Stage): Promise<readonly unknown[]> => {
    const { items } = await world.cluster.admin.list(kinds.EndpointSlice, { namespace: 'default', ...isEarly });
    return items.map(({ metadata: { name }, ports, endpoints = [] }) => [name, ports, endpoints.length]);
  };

  const noAgent = new ApiError(503, 'ServiceUnavailable', 'error trying to reach service: No agent available');

  test('get connections when an agent has come, which reaches them through the Service before', async () => {
    const says: { answer: string | ApiError } = { answer: 'ok' };
    const stage = await tunneled(says);
    says.answer = noAgent;
    await begun(stage);
    expect(await early(stage)).toEqual([]);
    await stage.world.reconcile();
    expect(await selected(stage)).toBe(stage.before);
    const port = { name: 'konnectivity-server', protocol: 'TCP', port: 8132 };
    expect(await early(stage)).toEqual([['tenant-ipv4-rollout', [port], 2]]);
    says.answer = 'ok';
    await stage.world.reconcile();
    expect(await selected(stage)).toBe(stage.rolling.hashOf(await stage.world.deployment()));
    await settled(stage);
    expect(await early(stage)).toEqual([]);
    await expectRest(stage);
  });

  test('do not wait for agents longer than half a minute', async () => {
    const says: { answer: string | ApiError } = { answer: 'ok' };
    const stage = await tunneled(says);
    says.answer = noAgent;
    await begun(stage);
    await stage.world.reconcile();
    await stage.world.clock.advance(29_000);
    await stage.world.reconcile();
    expect(await selected(stage)).toBe(stage.before);
    await stage.world.clock.advance(1_000);
    await stage.world.reconcile();
    expect(await selected(stage)).not.toBe(stage.before);
    await settled(stage);
    expect(await early(stage)).toEqual([]);
  });

  test('do not wait for what only looks like an agent, or for a tenant that answers nonsense', async () => {
    for (const answer of [new ApiError(500, 'InternalError', 'dial tcp: refused'), '[]']) {
      const says: { answer: string | ApiError } = { answer: 'ok' };
      const stage = await tunneled(says);
      says.answer = answer;
      await stage.world.change(next);
      await stage.world.reconcile();
      await cluster(stage);
      await stage.world.reconcile();
      expect(await selected(stage)).not.toBe(stage.before);
    }
  });
});

describe('While other control planes are starting their pods', () => {
  async function busy(): Promise<{
    readonly world: TenantWorld;
    readonly rest: () => void;
    readonly work: () => void;
  }> {
    const starts = new StartQueue({ clock: new FakeClock(), memory: new ObjectMemory() });
    const world = new TenantWorld({ starts: { starts, mostStarts: 1 } });
    const tcp = tenantControlPlaneWith({});
    const other = { ...tcp, metadata: { ...tcp.metadata, namespace: 'other', uid: 'another' } };
    const work = (): void => void starts.take(other, 1);
    return Promise.resolve({
      world,
      rest: () => {
        starts.ended('another');
      },
      work,
    });
  }

  test('a new one waits for its turn, and says so', async () => {
    const { world, rest, work } = await busy();
    work();
    await world.create(old);
    await world.settle();
    expect(await world.condition('ControlPlaneAvailable')).toContain(
      'False StartsLater: 1 other control plane is starting its pods',
    );
    expect(await world.deployment()).toBeUndefined();
    rest();
    await world.settle();
    expect(await world.state()).toBe('Ready');
  });

  test('one that wakes up waits for its turn: many have the same schedule', async () => {
    const { world, rest, work } = await busy();
    await world.create(old);
    await world.settle();
    const scaled = (replicas: number): Promise<void> =>
      world.change({ spec: { controlPlane: { deployment: { replicas } } } });
    await scaled(0);
    await world.settle();
    work();
    await scaled(2);
    await world.settle();
    expect(await world.condition('ControlPlaneAvailable')).toContain('False StartsLater');
    expect((await world.deployment())?.spec?.replicas).toBe(0);
    rest();
    await world.settle();
    expect([(await world.deployment())?.spec?.replicas, await world.state()]).toEqual([2, 'Ready']);
  });

  test('one whose pods do not become ready gives its turn back when they are not wanted anymore', async () => {
    const starts = new StartQueue({ clock: new FakeClock(), memory: new ObjectMemory() });
    const world = new TenantWorld({ starts: { starts, mostStarts: 1 } });
    world.podsStart = false;
    await world.create(old);
    await world.settle();
    const tcp = await world.read();
    const other = { ...tcp, metadata: { ...tcp.metadata, namespace: 'other', uid: 'another' } };
    expect(starts.take(other, 1)).toBe(1);
    await world.change({ spec: { controlPlane: { deployment: { replicas: 0 } } } });
    await world.settle();
    expect(starts.take(other, 1)).toBeUndefined();
  });

  test('one that serves keeps its pods and its version until it is its turn, and gives it back when they are ready', async () => {
    const { world, rest, work } = await busy();
    const stage = await running(2, world);
    work();
    await world.change(next);
    await settled(stage);
    expect(await world.condition('UpgradeAllowed')).toContain('False StartsLater');
    expect((await world.read()).status?.kubernetesResources?.version).toEqual({ status: 'Ready', version: 'v1.35.4' });
    expect(await hashes(stage)).toEqual([stage.before]);
    rest();
    await settled(stage);
    expect((await world.read()).status?.kubernetesResources?.version?.version).toBe('v1.36.3');
    work();
    rest();
    await world.change({ spec: { controlPlane: { deployment: { extraArgs: { apiServer: ['--v=3'] } } } } });
    await settled(stage);
    expect(await hashes(stage)).toEqual([stage.rolling.hashOf(await world.deployment())]);
  });
});

test('What previous pods use is not removed while the pods of the spec wait for their turn, or have failed', async () => {
  const starts = new StartQueue({ clock: new FakeClock(), memory: new ObjectMemory() });
  const world = new TenantWorld({ starts: { starts, mostStarts: 1 } });
  const second = await world.addStoreBeside('events');
  const stage = await running(2, world);
  await world.change({ spec: { dataStoreOverrides: [{ resource: '/events', dataStore: 'events' }] } });
  await settled(stage);
  expect(second.tenancies.size).toBe(1);
  const before = stage.rolling.hashOf(await world.deployment());
  const tcp = tenantControlPlaneWith({});
  starts.take({ ...tcp, metadata: { ...tcp.metadata, namespace: 'other', uid: 'another' } }, 1);
  await world.change({ spec: { dataStoreOverrides: [] } });
  await settled(stage);
  expect(await world.condition('UpgradeAllowed')).toContain('StartsLater');
  expect(second.tenancies.size).toBe(1);
  starts.ended('another');
  stage.rolling.trouble = (hash) => (hash === before ? undefined : 'ImagePullBackOff');
  for (let round = 0; round < 30; round += 1) {
    await world.reconcile();
    await cluster(stage);
    await world.clock.advance(5000);
  }
  expect(await world.condition('UpgradeAllowed')).toContain('RolloutFailed');
  expect(second.tenancies.size).toBe(1);
  stage.rolling.trouble = () => undefined;
  await world.clock.advance(600_000);
  await settled(stage);
  expect(second.tenancies.size).toBe(0);
});

describe('In any order of events', () => {
  const actions = ['reconcile', 'deployments', 'kubelets', 'slices', 'restart', 'wait', 'change', 'scale'] as const;

  test('no client is routed to pods of two templates, back to older ones, or to none', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...actions), { minLength: 20, maxLength: 60 }),
        fc.integer({ min: 1, max: 3 }),
        async (order, replicas) => {
          const stage = await running(replicas);
          const { world, rolling } = stage;
          const seen: string[] = [stage.before];
          let changes = 0;
          const look = async (): Promise<void> => {
            const led = await rolling.sliceController();
            expect(led.hashes).toHaveLength(1);
            if (led.hashes[0] !== seen.at(-1)) seen.push(...led.hashes);
          };
          for (const action of order) {
            if (action === 'reconcile') await world.reconcile();
            else if (action === 'deployments') await rolling.deploymentController();
            else if (action === 'kubelets') await rolling.kubelets();
            else if (action === 'restart') world.restart();
            else if (action === 'wait') await world.clock.advance(1000);
            else if (action === 'scale') {
              await world.change({ spec: { controlPlane: { deployment: { replicas: 1 + (changes % 3) } } } });
            } else if (action === 'change') {
              // One change in the middle of another may lead back: its pods are as old as those before.
              if ((await world.deployment())?.metadata.annotations?.[annotations.rollout] !== undefined) continue;
              changes += 1;
              await world.change({
                spec: { controlPlane: { deployment: { extraArgs: { apiServer: [`--v=${changes}`] } } } },
              });
            }
            await look();
          }
          await settled(stage);
          await look();
          await expectRest(stage);
          expect(new Set(seen).size).toBe(seen.length);
          expect(await hashes(stage)).toEqual([rolling.hashOf(await world.deployment())]);
        },
      ),
      { numRuns: 6, endOnFailure: true },
    );
  }, 120_000);
});
