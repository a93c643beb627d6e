import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { capiCluster, capiClusterClass, capiMachineDeployment } from '../../../api/cluster-api/kinds.ts';
import { clusterAddon } from '../../api/cluster-addon.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Resource } from '../../../api/meta.ts';
import { ApiError, UnreachableError } from '../../../runtime/client/errors.ts';
import type { AddonStage } from '../../sources/cluster-addon-config.ts';
import type { TestRelease } from '../../../testing/worlds/addon-world.ts';
import { AddonWorld, addonKey, chartObject, clusterKey, gadget } from '../../../testing/worlds/addon-world.ts';
import { admitBySchema } from '../../../testing/fake/admit-by-schema.ts';
import { access } from './access.ts';

function noop(): void {
  // A promise that never resolves.
}

const apply = (name: string, rest: Partial<AddonStage> = {}): AddonStage => ({ name, action: 'apply', ...rest });

const v1: TestRelease = {
  kubernetes: 'v1.35.6',
  addonVersion: 'v1',
  stages: {
    AfterControlPlaneInitialized: [apply('cni'), apply('metrics')],
    BeforeClusterUpgrade: [apply('cni'), apply('metrics')],
  },
  charts: {
    cni: () => [chartObject('ConfigMap', 'cni', { data: { version: '1' } }), chartObject('ConfigMap', 'cni-old')],
    metrics: () => [chartObject('ServiceAccount', 'metrics'), chartObject('ConfigMap', 'metrics')],
  },
};

const v2: TestRelease = {
  kubernetes: 'v1.36.3',
  addonVersion: 'v2',
  stages: { ...v1.stages, AfterClusterUpgrade: [apply('after')] },
  charts: {
    cni: () => [chartObject('ConfigMap', 'cni', { data: { version: '2' } })],
    metrics: () => [chartObject('ConfigMap', 'metrics')],
    after: () => [chartObject('ConfigMap', 'after')],
  },
};

const installed = ['ConfigMap kube-system/cni', 'ConfigMap kube-system/cni-old', 'ConfigMap kube-system/metrics'];

let world: AddonWorld;

beforeEach(() => {
  world = new AddonWorld({ access });
});

afterEach(() => world.close());

async function running(release: TestRelease = v1): Promise<void> {
  await world.release('v1', release);
  await world.create();
  await world.settle();
}

/** Reconciles until the status says that this release is completed, which the spec does not say yet. */
async function untilRecorded(release: string): Promise<void> {
  for (let reconciles = 0; reconciles < 30; reconciles += 1) {
    await world.reconcile();
    if ((await world.addon())?.status?.lastRelease === release) return;
  }
  throw new Error(`${release} was not completed`);
}

const condition = async (type: string) =>
  (await world.addon())?.status?.conditions?.find((candidate) => candidate.type === type);

const dataOf = async (name: string) =>
  (await world.workload.admin.get(kinds.ConfigMap, { namespace: 'kube-system', name }))?.data;

describe('The add-ons of a Cluster', () => {
  test('are applied stage by stage once its control plane is initialized', async () => {
    await running();
    expect(await world.objects()).toEqual([...installed, 'ServiceAccount kube-system/metrics']);
    const addon = await world.addon();
    expect(addon?.spec).toMatchObject({ clusterStack: 'docker-test-1-35-v1', version: 'v1', hook: '' });
    expect(addon?.metadata.annotations).toEqual({ ClusterAddonStage: 'created' });
    expect(addon?.metadata.ownerReferences).toMatchObject([{ kind: 'Cluster', name: 'blue' }]);
    expect(addon?.status).toMatchObject({ ready: true, lastRelease: 'docker-test-1-35-v1', stages: [] });
    expect(addon?.status?.inventory).toHaveLength(4);
    expect(await condition('Ready')).toMatchObject({ status: 'True' });
  });

  test('wait for the control plane', async () => {
    await world.release('v1', v1);
    await world.create();
    await world.setCluster({ release: 'v1', initialized: false });
    await world.settle();
    expect(await world.objects()).toEqual([]);
    expect(await condition('Ready')).toMatchObject({ status: 'False', reason: 'ControlPlaneNotReady' });
  });

  test('are not changed by a second reconcile', async () => {
    await running();
    const [writes, before] = [world.writes().length, await world.addon()];
    await world.settle();
    expect(world.writes()).toHaveLength(writes);
    expect(await world.addon()).toEqual(before);
  });

  test('are checked every ten minutes, without a write if nothing has changed', async () => {
    await running();
    const writes = world.writes().length;
    await world.clock.advance(10 * 60_000);
    const end = await world.settle();
    expect(end.afterMs).toBe(10 * 60_000);
    expect(world.writes()).toHaveLength(writes);
  });

  test('defect 11: are repaired after they were changed or deleted', async () => {
    await running();
    const key = { namespace: 'kube-system', name: 'cni' };
    await world.workload.admin.patch(kinds.ConfigMap, key, { type: 'merge', body: { data: { version: 'x' } } });
    await world.workload.admin.delete(kinds.ConfigMap, { ...key, name: 'metrics' });
    await world.clock.advance(10 * 60_000);
    await world.settle();
    expect(await dataOf('cni')).toEqual({ version: '1' });
    expect(await world.objects()).toContain('ConfigMap kube-system/metrics');
    expect(world.events).toContainEqual(expect.objectContaining({ reason: 'DriftRepaired' }));
  });

  test('are rendered once: neither a retry nor a check for drift starts helm for the same input', async () => {
    await world.release('v1', { ...v1, overwrites: { cni: 'a: {{ variables }}\n' } });
    await world.create();
    const refusal = new ApiError(422, 'Invalid', 'ConfigMap "metrics" is invalid');
    world.workload.failNext(({ verb, name }) => verb === 'apply' && name === 'metrics', refusal, 5);
    for (let reconciles = 0; reconciles < 8; reconciles += 1) await world.settle();
    expect((await world.addon())?.status?.ready).toBe(true);
    await world.clock.advance(10 * 60_000);
    await world.settle();
    // Each twice, to see what is made by chance.
    expect([...world.rendered].sort()).toEqual(['cni', 'cni', 'metrics', 'metrics']);
    expect(world.expanded).toHaveLength(1);
    await world.setCluster({ release: 'v1', variables: [{ name: 'a', value: 1 }] });
    await world.settle();
    expect([...world.rendered].sort()).toEqual(['cni', 'cni', 'cni', 'cni', 'metrics', 'metrics']);
  });

  test('follow values that the user changes', async () => {
    const values: (string | undefined)[] = [];
    await running({
      ...v1,
      charts: {
        ...v1.charts,
        metrics: (request) => {
          values.push(request.values);
          return [chartObject('ConfigMap', 'metrics', { data: { values: request.values ?? '' } })];
        },
      },
      overwrites: { metrics: 'variables: {{ variables }}\n' },
    });
    expect(await dataOf('metrics')).toEqual({ values: 'variables: []\n' });
    await world.setCluster({ release: 'v1', variables: [{ name: 'a', value: 1 }] });
    await world.settle();
    expect(await dataOf('metrics')).toEqual({ values: 'variables: [{"name":"a","value":1}]\n' });
    expect((await world.addon())?.status?.ready).toBe(true);
  });

  test('defect 4: get no values of another stage', async () => {
    const seen: Record<string, string | undefined> = {};
    const chart = (name: string) => (request: { readonly values?: string }) => {
      seen[name] = request.values;
      return [chartObject('ConfigMap', name)];
    };
    await running({
      ...v1,
      charts: { cni: chart('cni'), metrics: chart('metrics') },
      overwrites: { cni: 'a: 1\n' },
    });
    expect(seen).toEqual({ cni: 'a: 1\n', metrics: undefined });
  });
});

describe('An upgrade', () => {
  const workers = (version: string): Promise<Resource> =>
    world.management.seed(capiMachineDeployment, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineDeployment',
      metadata: { namespace: 'default', name: 'md', labels: { 'cluster.x-k8s.io/cluster-name': 'blue' } },
      spec: { replicas: 1, template: { spec: { version } } },
      status: { observedGeneration: 9, replicas: 1, upToDateReplicas: 1 },
    });

  test('runs the stages before it against the old control plane, and shows the hook until they are done', async () => {
    await running();
    const wait = {
      objects: [{ key: 'cm', apiVersion: 'v1', kind: 'ConfigMap', name: 'go' }],
      expression: 'cm.data.go == "1"',
    };
    await world.release('v2', {
      ...v2,
      stages: { ...v2.stages, BeforeClusterUpgrade: [apply('cni', { after: wait }), apply('metrics')] },
    });
    await world.setCluster({ release: 'v2' });
    await world.settle();
    const addon = await world.addon();
    expect(addon?.spec).toMatchObject({
      clusterStack: 'docker-test-1-35-v1',
      hook: 'BeforeClusterUpgrade',
      version: 'v2',
    });
    expect(addon?.status).toMatchObject({
      ready: false,
      stages: [
        { name: 'cni', action: 'apply', phase: 'waitingForPostCondition' },
        { name: 'metrics', action: 'apply', phase: 'Pending' },
      ],
    });
    expect(await condition('EvaluatedCEL')).toMatchObject({ reason: 'FailedToEvaluatePostCondition' });
    expect(await dataOf('cni')).toEqual({ version: '2' });
    await world.workload.seed(
      kinds.ConfigMap,
      chartObject('ConfigMap', 'go', { metadata: { name: 'go', namespace: 'kube-system' }, data: { go: '1' } }),
    );
    await world.settle();
    expect((await world.addon())?.spec).toMatchObject({ clusterStack: 'docker-test-1-35-v2', hook: '' });
  });

  test('removes what the new release no longer contains, and nothing else', async () => {
    await running();
    await world.workload.seed(
      kinds.ConfigMap,
      chartObject('ConfigMap', 'mine', { metadata: { name: 'mine', namespace: 'kube-system' } }),
    );
    await world.release('v2', v2);
    await world.setCluster({ release: 'v2' });
    await world.settle();
    expect(await world.objects()).toEqual([
      'ConfigMap kube-system/cni',
      'ConfigMap kube-system/metrics',
      'ConfigMap kube-system/mine',
    ]);
  });

  test('defect 4: is recorded as an upgrade', async () => {
    await running();
    await world.release('v2', v2);
    await world.setCluster({ release: 'v2' });
    await world.settle();
    expect((await world.addon())?.metadata.annotations).toEqual({ ClusterAddonStage: 'upgraded' });
  });

  test('runs the stages after it when control plane and workers have the version', async () => {
    await running();
    await workers('v1.35.6');
    await world.release('v2', v2);
    await world.setCluster({ release: 'v2' });
    await world.settle();
    await world.setVersion('v1.36.3');
    await world.settle();
    expect(await world.objects()).not.toContain('ConfigMap kube-system/after');
    await workers('v1.36.3');
    await world.settle();
    expect(await world.objects()).toContain('ConfigMap kube-system/after');
    const { status } = (await world.addon()) ?? {};
    expect(status?.completedHooks).toEqual(['BeforeClusterUpgrade', 'AfterClusterUpgrade']);
  });

  test('defect 6: never fetches the files of the old release', async () => {
    await running();
    world.asked.length = 0;
    await world.release('v2', v2);
    await world.setCluster({ release: 'v2' });
    await world.settle();
    expect(new Set(world.asked)).toEqual(new Set(['docker-test-1-35-v2']));
  });

  describe('A change to a class with the same add-ons and the same Kubernetes', () => {
    const gone = { name: 'old', action: 'delete' } as const;
    const old = { old: () => [chartObject('ConfigMap', 'old')] };
    const hooks = {
      AfterControlPlaneInitialized: [apply('cni'), apply('old')],
      BeforeClusterUpgrade: [apply('cni'), gone],
      AfterClusterUpgrade: [apply('after')],
    };
    const next: TestRelease = { ...v2, stages: hooks, charts: { ...v2.charts, ...old } };
    const completed = async () => (await world.addon())?.status?.completedHooks;
    const events = () => world.events.filter(({ reason }) => reason === 'HookCompleted').length;

    async function upgraded(workersOf: string): Promise<void> {
      await running({ ...v1, stages: hooks, charts: { ...v1.charts, ...old, after: () => [] } });
      await workers(workersOf);
      await world.release('v2', next);
      await world.setCluster({ release: 'v2' });
      await world.settle();
      await world.setVersion('v1.36.3');
      await world.settle();
      await world.release('v3', next);
    }

    test('keeps the completed hooks, whether or not the manager restarts', async () => {
      await upgraded('v1.36.3');
      expect(await completed()).toEqual(['BeforeClusterUpgrade', 'AfterClusterUpgrade']);
      const before = events();
      await world.setCluster({ release: 'v3' });
      await world.settle();
      world.restart();
      await world.settle();
      const addon = await world.addon();
      expect(addon?.status).toMatchObject({ lastRelease: 'docker-test-1-35-v3', ready: true });
      expect(await completed()).toEqual(['BeforeClusterUpgrade', 'AfterClusterUpgrade']);
      expect(addon?.metadata.annotations).toEqual({ ClusterAddonStage: 'upgraded' });
      expect(events()).toBe(before);
      // What the upgrade had deleted does not come back with the stages of the beginning.
      expect(await world.objects()).toEqual(['ConfigMap kube-system/after', 'ConfigMap kube-system/cni']);
    });

    test('still runs the hook after the upgrade when workers are late', async () => {
      await upgraded('v1.35.6');
      await world.setCluster({ release: 'v3' });
      await world.settle();
      expect(await completed()).toEqual(['BeforeClusterUpgrade']);
      await workers('v1.36.3');
      await world.settle();
      expect(await completed()).toEqual(['BeforeClusterUpgrade', 'AfterClusterUpgrade']);
      expect(await world.objects()).toContain('ConfigMap kube-system/after');
    });

    test('is recognized as an upgrade after the status was lost with a move', async () => {
      await upgraded('v1.36.3');
      const body = { status: null };
      await world.management.admin.patch(clusterAddon, addonKey, { type: 'merge', body }, { subresource: 'status' });
      world.restart();
      await world.settle();
      expect(await completed()).toEqual(['BeforeClusterUpgrade', 'AfterClusterUpgrade']);
      expect((await world.addon())?.metadata.annotations).toEqual({ ClusterAddonStage: 'upgraded' });
      expect(await world.objects()).not.toContain('ConfigMap kube-system/old');
    });
  });

  test('that is reverted just after completion is an upgrade in the other direction', async () => {
    await running();
    await world.release('v2', v2);
    await world.setCluster({ release: 'v2' });
    await untilRecorded('docker-test-1-35-v2');
    world.restart();
    await world.setCluster({ release: 'v1' });
    await world.settle();
    const completions = world.events.filter(({ reason }) => reason === 'HookCompleted');
    expect(completions.at(-1)?.message).toBe('BeforeClusterUpgrade of docker-test-1-35-v1 is completed');
    const { spec, status } = (await world.addon()) ?? {};
    expect(spec).toMatchObject({ clusterStack: 'docker-test-1-35-v1', hook: '' });
    expect(status).toMatchObject({ ready: true, completedHooks: ['BeforeClusterUpgrade'] });
    expect(await dataOf('cni')).toEqual({ version: '1' });
  });

  test('to the class of the same name in another namespace, and back, is recognized', async () => {
    await running();
    const name = 'docker-test-1-35-v1';
    await world.release('v1', { ...v2, kubernetes: v1.kubernetes }, 'stacks');
    await world.setCluster({ release: 'v1', spec: { topology: { classRef: { name, namespace: 'stacks' } } } });
    await world.settle();
    expect(await dataOf('cni')).toEqual({ version: '2' });
    expect(await world.addon()).toMatchObject({
      spec: { clusterStack: name, clusterStackNamespace: 'stacks', hook: '' },
      status: { lastRelease: name, lastReleaseNamespace: 'stacks', ready: true },
    });
    await world.release('v1', v1);
    await world.setCluster({ release: 'v1' });
    await world.settle();
    expect(await dataOf('cni')).toEqual({ version: '1' });
    expect((await world.addon())?.spec).toMatchObject({ clusterStack: name, clusterStackNamespace: '', hook: '' });
  });

  test('that is reverted keeps the old release as it was', async () => {
    await running();
    const never = { objects: [], expression: 'false' };
    await world.release('v2', {
      ...v2,
      stages: { BeforeClusterUpgrade: [apply('cni', { after: never }), apply('metrics')] },
    });
    await world.setCluster({ release: 'v2' });
    await world.settle();
    expect(await dataOf('cni')).toEqual({ version: '2' });
    await world.setCluster({ release: 'v1' });
    await world.settle();
    expect(await dataOf('cni')).toEqual({ version: '1' });
    expect((await world.addon())?.spec).toMatchObject({ clusterStack: 'docker-test-1-35-v1', hook: '' });
    expect((await world.addon())?.status?.ready).toBe(true);
  });
});

describe('A stage', () => {
  test('defect 1: without a chart stops the hook and reports it', async () => {
    await running({ ...v1, stages: { AfterControlPlaneInitialized: [apply('absent'), apply('cni')] } });
    expect((await world.addon())?.status?.ready).toBe(false);
    expect(await condition('HelmChartFound')).toMatchObject({ status: 'False', reason: 'HelmChartMissing' });
    expect(await world.objects()).toEqual([]);
  });

  test('defect 1: that cannot be rendered stops the hook and reports why', async () => {
    const broken = (): never => {
      throw new Error('nil pointer evaluating .Values.a.b');
    };
    await running({ ...v1, charts: { ...v1.charts, cni: broken } });
    const found = await condition('HelmChartTemplated');
    expect(found).toMatchObject({ status: 'False', reason: 'TemplateNewClusterStackFailed' });
    expect(found?.message).toContain('nil pointer evaluating .Values.a.b');
    expect((await world.addon())?.spec.clusterStack ?? '').toBe('');
    expect(await world.objects()).toEqual([]);
  });

  test('defect 5: whose objects are refused is not ready, and each object is reported as not synced', async () => {
    await world.release('v1', v1);
    await world.create();
    const refusal = new ApiError(422, 'Invalid', 'ConfigMap "cni" is invalid: data: Forbidden');
    const heal = world.workload.before(({ verb, name }) => {
      if (verb === 'apply' && name === 'cni') throw refusal;
    });
    await world.settle();
    const { status } = (await world.addon()) ?? {};
    expect(status?.ready).toBe(false);
    expect(status?.resources).toMatchObject([{ kind: 'ConfigMap', name: 'cni', status: 'not-synced' }]);
    expect(status?.stages?.[0]).toMatchObject({ name: 'cni', phase: 'applyingOrDeleting' });
    expect(await condition('HelmChartApplied')).toMatchObject({ reason: 'FailedToApplyObjects' });
    heal();
    await world.settle();
    expect((await world.addon())?.status).toMatchObject({ ready: true, resources: [] });
  });

  test('waits for its condition before it applies anything', async () => {
    const before = {
      objects: [{ key: 'a', apiVersion: 'v1', kind: 'ConfigMap', name: 'go' }],
      expression: 'a.data.go == "1"',
    };
    await running({ ...v1, stages: { AfterControlPlaneInitialized: [apply('cni', { before })] } });
    expect(await world.objects()).toEqual([]);
    expect(await condition('EvaluatedCEL')).toMatchObject({ reason: 'FailedToEvaluatePreCondition' });
  });

  test('with a condition that does not compile is refused before anything is applied', async () => {
    const after = { objects: [], expression: '1 +' };
    await running({ ...v1, stages: { AfterControlPlaneInitialized: [apply('cni'), apply('metrics', { after })] } });
    expect(await world.objects()).toEqual([]);
    const found = await condition('ClusterAddonConfigValidated');
    expect(found).toMatchObject({ status: 'False', reason: 'ParsingClusterAddonConfigFailed' });
  });

  test('that takes too long is reported, and continues when it can', async () => {
    const after = {
      objects: [{ key: 'a', apiVersion: 'v1', kind: 'ConfigMap', name: 'go' }],
      expression: 'has(a.data)',
    };
    await running({ ...v1, stages: { AfterControlPlaneInitialized: [apply('cni', { after, timeoutMs: 60_000 })] } });
    expect((await condition('Ready'))?.reason).not.toBe('StageTimedOut');
    await world.clock.advance(61_000);
    await world.settle();
    const ready = await condition('Ready');
    expect(ready).toMatchObject({ reason: 'StageTimedOut' });
    expect(ready?.message).toContain('stage cni did not finish within 60 s');
    await world.workload.seed(
      kinds.ConfigMap,
      chartObject('ConfigMap', 'go', { metadata: { name: 'go', namespace: 'kube-system' }, data: {} }),
    );
    await world.settle();
    expect((await world.addon())?.status?.ready).toBe(true);
  });

  test('uses values that are corrected while it waits', async () => {
    const after = {
      objects: [{ key: 'a', apiVersion: 'v1', kind: 'ConfigMap', name: 'cni' }],
      expression: 'a.data.values == "variables: 2"',
    };
    const cni = (request: { readonly values?: string }) => [
      chartObject('ConfigMap', 'cni', { data: { values: request.values ?? '' } }),
    ];
    await world.release('v1', {
      ...v1,
      stages: { AfterControlPlaneInitialized: [apply('cni', { after })] },
      charts: { cni },
      overwrites: { cni: 'variables: {{ variables }}' },
    });
    await world.create();
    await world.setCluster({ release: 'v1', variables: 1 });
    await world.settle();
    expect((await world.addon())?.status?.ready).toBe(false);
    await world.setCluster({ release: 'v1', variables: 2 });
    await world.settle();
    expect((await world.addon())?.status?.ready).toBe(true);
  });

  test('with the action "delete" removes what it renders and what it had applied', async () => {
    await running();
    await world.release('v2', {
      ...v2,
      stages: { BeforeClusterUpgrade: [{ name: 'cni', action: 'delete' }, apply('metrics')] },
      charts: { ...v2.charts, cni: () => [chartObject('ConfigMap', 'cni')] },
    });
    await world.setCluster({ release: 'v2' });
    await world.settle();
    expect(await world.objects()).toEqual(['ConfigMap kube-system/metrics']);
  });

  test('applies objects whose definitions come in the same chart as soon as these are served', async () => {
    const definition = chartObject('CustomResourceDefinition', 'gadgets.example.org', {}, 'apiextensions.k8s.io/v1');
    await running({
      ...v1,
      stages: { AfterControlPlaneInitialized: [apply('cni')] },
      charts: {
        cni: () => [
          chartObject('Gadget', 'one', {}, 'example.org/v1'),
          chartObject('ConfigMap', 'for-gadgets'),
          definition,
        ],
      },
    });
    expect(await condition('HelmChartApplied')).toMatchObject({ reason: 'ObjectsApplyingOngoing' });
    // Nor is anything else sent that may need them.
    expect(await world.objects()).toEqual(['CustomResourceDefinition /gadgets.example.org']);
    world.extraKinds.push(gadget);
    const established = { status: { conditions: [{ type: 'Established', status: 'True' }] } };
    const key = { name: 'gadgets.example.org' };
    await world.workload.admin.patch(
      kinds.CustomResourceDefinition,
      key,
      { type: 'merge', body: established },
      { subresource: 'status' },
    );
    await world.settle();
    expect(await world.objects()).toEqual(
      expect.arrayContaining(['ConfigMap kube-system/for-gadgets', 'Gadget kube-system/one']),
    );
    expect((await world.addon())?.status?.ready).toBe(true);
  });

  test('creates objects in the namespace that they name', async () => {
    const elsewhere = chartObject('ConfigMap', 'x', { metadata: { name: 'x', namespace: 'monitoring' } });
    await running({
      ...v1,
      stages: { AfterControlPlaneInitialized: [apply('cni')] },
      charts: { cni: () => [elsewhere] },
    });
    expect(await world.objects()).toEqual(['ConfigMap monitoring/x']);
  });

  test('reports the fix if a field cannot be changed, and recreates the object if that is allowed', async () => {
    await running({
      ...v1,
      charts: { ...v1.charts, cni: () => [chartObject('DaemonSet', 'cni', { spec: { a: 1 } }, 'apps/v1')] },
    });
    const refusal = new ApiError(422, 'Invalid', 'spec.selector: Invalid value: field is immutable');
    const first = await world.workload.admin.get(kinds.DaemonSet, { namespace: 'kube-system', name: 'cni' });
    await world.release('v2', {
      ...v2,
      charts: { ...v2.charts, cni: () => [chartObject('DaemonSet', 'cni', { spec: { a: 2 } }, 'apps/v1')] },
    });
    await world.setCluster({ release: 'v2' });
    world.workload.before(async ({ verb, name }) => {
      if (verb !== 'apply' || name !== 'cni') return;
      const there = await world.workload.admin.get(kinds.DaemonSet, { namespace: 'kube-system', name });
      if (there?.metadata.uid === first?.metadata.uid) throw refusal;
    });
    await world.settle();
    expect((await condition('HelmChartApplied'))?.message).toContain('clusterstack.x-k8s.io/recreate=true');
    const body = { metadata: { annotations: { 'clusterstack.x-k8s.io/recreate': 'true' } } };
    await world.management.admin.patch(clusterAddon, addonKey, { type: 'merge', body });
    await world.settle();
    const second = await world.workload.admin.get(kinds.DaemonSet, { namespace: 'kube-system', name: 'cni' });
    expect(second?.metadata.uid).not.toBe(first?.metadata.uid);
    expect((await world.addon())?.status?.ready).toBe(true);
  });
});

describe('The random parts of a chart', () => {
  let count = 0;
  const random = () => [
    chartObject('Secret', 'ca', { data: { key: String((count += 1)) } }),
    chartObject('Secret', 'server', { data: { key: String(count) } }),
    chartObject('ConfigMap', 'cni'),
  ];
  const keys = () =>
    Promise.all(
      ['ca', 'server'].map(async (name) => {
        const secret = await world.workload.admin.get(kinds.Secret, { namespace: 'kube-system', name });
        return secret?.data?.key;
      }),
    );
  const stages = { AfterControlPlaneInitialized: [apply('cni')], BeforeClusterUpgrade: [apply('cni')] };

  beforeEach(() => running({ ...v1, stages, charts: { cni: random } }));

  test('are consistent and stay through drift checks and restarts', async () => {
    const before = await keys();
    expect(before[0]).toBe(before[1]);
    await world.clock.advance(10 * 60_000);
    await world.settle();
    world.restart();
    await world.settle();
    expect(await keys()).toEqual(before);
  });

  test('are all generated again if one is missing', async () => {
    const before = await keys();
    await world.workload.admin.delete(kinds.Secret, { namespace: 'kube-system', name: 'server' });
    await world.clock.advance(10 * 60_000);
    await world.settle();
    const after = await keys();
    expect(after[0]).toBe(after[1]);
    expect(after).not.toEqual(before);
  });

  test('are generated again once if the annotation requests it', async () => {
    const before = await keys();
    const body = { metadata: { annotations: { 'clusterstack.x-k8s.io/regenerate': 'now' } } };
    await world.management.admin.patch(clusterAddon, addonKey, { type: 'merge', body });
    await world.settle();
    const after = await keys();
    expect(after).not.toEqual(before);
    world.restart();
    await world.settle();
    expect(await keys()).toEqual(after);
  });
});

describe('A Cluster', () => {
  test('of a class that no release created gets no ClusterAddon', async () => {
    await world.release('v1', v1);
    await world.create();
    await world.management.seed(capiClusterClass, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'ClusterClass',
      metadata: { namespace: 'default', name: 'plain' },
    });
    await world.setCluster({ release: 'v1', spec: { topology: { classRef: { name: 'plain' } } } });
    await world.settle();
    expect(await world.addon()).toBeUndefined();
    expect(world.workload.calls).toEqual([]);
  });

  test('defect 7: without topology gets no ClusterAddon, and an existing one does nothing', async () => {
    await running();
    await world.setCluster({ release: 'v1', spec: { topology: null } });
    const writes = world.writes().length;
    await world.settle();
    expect(await condition('Ready')).toMatchObject({ status: 'False', reason: 'NoClusterStack' });
    expect(world.writes()).toHaveLength(writes);
  });

  test('may use a class of another namespace', async () => {
    await world.release('v1', v1);
    await world.create();
    const classRef = { name: 'docker-test-1-35-v1', namespace: 'stacks' };
    await world.setCluster({ release: 'v1', spec: { topology: { classRef } } });
    await world.settle();
    expect(await world.addon()).toBeUndefined();
    await world.release('v1', v1, 'stacks');
    await world.settle();
    expect((await world.addon())?.status?.ready).toBe(true);
  });

  test('that is paused is not changed', async () => {
    await running();
    await world.release('v2', v2);
    await world.setCluster({ release: 'v2', spec: { paused: true } });
    const writes = world.writes().length;
    await world.settle();
    expect(world.writes()).toHaveLength(writes);
    expect(await condition('Ready')).toMatchObject({ reason: 'Paused' });
  });

  test('that is deleted takes its ClusterAddon with it, and nothing is removed from the workload cluster', async () => {
    await running();
    const writes = world.writes().length;
    await world.management.admin.delete(capiCluster, clusterKey);
    await world.settle();
    expect(await world.addon()).toBeUndefined();
    expect(world.writes()).toHaveLength(writes);
  });

  test.each(['before anything', 'while a stage waits'])('can be deleted %s', async (when) => {
    const after = { objects: [], expression: 'false' };
    const stages = { AfterControlPlaneInitialized: [apply('cni', { after })] };
    await world.release('v1', { ...v1, stages });
    await world.create();
    if (when === 'while a stage waits') await world.settle();
    else await world.reconcile();
    await world.management.admin.delete(capiCluster, clusterKey);
    await world.settle();
    expect(await world.addon()).toBeUndefined();
  });

  test('defect 8: gets a deleted ClusterAddon back, and its objects are not recreated', async () => {
    await running();
    const writes = await world.workload.admin.get(kinds.ConfigMap, { namespace: 'kube-system', name: 'cni' });
    const before = await world.addon();
    await world.management.admin.delete(clusterAddon, addonKey);
    await world.settle();
    const after = await world.addon();
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
    expect(after?.status?.ready).toBe(true);
    expect(await world.workload.admin.get(kinds.ConfigMap, { namespace: 'kube-system', name: 'cni' })).toEqual(writes);
  });

  test('that clusterctl moved here is not installed again: the spec contains what was completed', async () => {
    await running();
    const addon = await world.addon();
    if (addon === undefined) throw new Error('there is no ClusterAddon');
    await world.management.admin.patch(
      clusterAddon,
      addonKey,
      { type: 'merge', body: { status: null } },
      { subresource: 'status' },
    );
    world.restart();
    await world.settle();
    const { spec, status } = (await world.addon()) ?? {};
    expect(spec).toEqual(addon.spec);
    expect(status?.inventory).toEqual(addon.status?.inventory);
    expect(world.events.filter(({ reason }) => reason === 'HookCompleted')).toHaveLength(1);
  });
});

describe('A failure', () => {
  test('defect 6: of a source at first is retried', async () => {
    await world.release('v1', v1);
    await world.create();
    world.assetsError = new Error('registry.example.org does not answer');
    const end = await world.settle();
    expect(end.afterMs).toBeGreaterThan(0);
    expect((await condition('ClusterStackReleaseDownloaded'))?.message).toContain('does not answer');
    world.assetsError = undefined;
    await world.settle();
    expect((await world.addon())?.status?.ready).toBe(true);
  });

  test('defect 6: because files are not a release is reported as such', async () => {
    await world.release('v1', v1);
    await world.create();
    world.assetsError = Object.assign(new Error('metadata.yaml is missing'), { name: 'BadReleaseError' });
    await world.settle();
    const found = await condition('ClusterStackReleaseDownloaded');
    expect(found).toMatchObject({ status: 'False', reason: 'IssueWithReleaseAssets', severity: 'Error' });
  });

  test('of the workload cluster is retried', async () => {
    await world.release('v1', v1);
    await world.create();
    world.workload.failNext(() => true, new UnreachableError('connection refused'), 3);
    const end = await world.settle();
    expect(end.afterMs).toBeGreaterThan(0);
    expect(await condition('ClusterReady')).toMatchObject({ reason: 'ControlPlaneNotReady' });
    for (let round = 0; round < 5; round += 1) await world.settle();
    expect((await world.addon())?.status?.ready).toBe(true);
  });

  test('that persists makes the delays grow, and those of a later failure begin short', async () => {
    await world.release('v1', v1);
    await world.create();
    await world.reconcile();
    const pauses: number[] = [];
    world.workload.failNext(() => true, new UnreachableError('connection refused'), 100);
    await world.reconcile();
    for (let reconciles = 0; reconciles < 8; reconciles += 1) pauses.push((await world.reconcile()).afterMs ?? 0);
    expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
    expect(pauses[0]).toBeLessThanOrEqual(20_000);
    expect(pauses.at(-1)).toBeGreaterThan(200_000);
    expect(pauses.at(-1)).toBeLessThanOrEqual(300_000);
    world.assetsError = new Error('registry.example.org does not answer');
    expect((await world.reconcile()).afterMs).toBeLessThanOrEqual(10_000);
  });

  test.each(['text', 'apply'] as const)(
    'of an API server that hangs at "%s" ends a reconcile after 20 seconds, and the condition says so',
    async (verb) => {
      await world.release('v1', v1);
      await world.create();
      const begun = Promise.withResolvers<'begun'>();
      const heal = world.workload.before((call) => {
        if (call.verb !== verb) return undefined;
        begun.resolve('begun');
        return new Promise<void>(noop);
      });
      let end = world.reconcile();
      while ((await Promise.race([begun.promise, end])) !== 'begun') end = world.reconcile();
      await world.clock.advance(20_000);
      expect((await end).afterMs).toBeGreaterThan(0);
      expect((await condition('ClusterReady'))?.message).toContain('took 20 s of one reconcile');
      heal();
      await world.settle();
      expect((await world.addon())?.status?.ready).toBe(true);
    },
  );

  test('of an API server that is slow at each object ends in time: each reconcile continues where the previous one ended', async () => {
    const stages = { AfterControlPlaneInitialized: [apply('cni')] };
    // One object of each rank of Helm's order, so that they are sent one after the other.
    const kindsInOrder = ['Namespace', 'ServiceAccount', 'Secret', 'ConfigMap', 'DaemonSet', 'Deployment', 'Job'];
    const objects = kindsInOrder.map((kind) =>
      chartObject(kind, 'x', {}, { DaemonSet: 'apps/v1', Deployment: 'apps/v1', Job: 'batch/v1' }[kind] ?? 'v1'),
    );
    await world.release('v1', { ...v1, stages, charts: { cni: () => objects } });
    await world.create();
    let calls = 0;
    world.workload.before(async () => {
      calls += 1;
      await new Promise<void>((resolve) => world.clock.after(4_000, resolve));
    });
    const messages: unknown[] = [];
    for (let reconciles = 0; reconciles < 12; reconciles += 1) {
      const state = { isOver: false };
      const end = world.reconcile().finally(() => (state.isOver = true));
      while (!state.isOver) {
        await world.clock.advance(1_000);
        await pause(1);
      }
      expect((await end).error).toBeUndefined();
      messages.push((await condition('ClusterReady'))?.status);
    }
    expect(messages).toContain('False');
    expect(calls).toBeGreaterThan(10);
    expect((await world.addon())?.status?.ready).toBe(true);
  });

  test('of an API server that answers at great length adds only a few lines to the status', async () => {
    await world.release('v1', v1);
    await world.create();
    const refusal = new ApiError(422, 'Invalid', 'x'.repeat(1024 * 1024));
    world.workload.failNext({ verb: 'apply' }, refusal, 100);
    await world.settle();
    expect(JSON.stringify((await world.addon())?.status).length).toBeLessThan(20_000);
  });

  test('of a discovery that returns nonsense is retried', async () => {
    await world.release('v1', v1);
    await world.create();
    world.workload.failNext({ verb: 'text' }, new ApiError(503, 'ServiceUnavailable', 'not now'), 2);
    await world.settle();
    expect((await world.addon())?.status?.ready).toBe(false);
    await world.settle();
    await world.settle();
    expect((await world.addon())?.status?.ready).toBe(true);
  });
});

describe('A definition of ClusterAddons that is older than the manager', () => {
  let isOlder = true;

  /** An API server whose definition of ClusterAddons has no such field. */
  function without(part: 'spec' | 'status', field: string): void {
    isOlder = true;
    world = new AddonWorld({
      access,
      admit: (kind, object, old) => {
        const next = admitBySchema(kind, object, old);
        if (!isOlder || kind.kind !== clusterAddon.kind || next[part] === undefined) return next;
        const fields = Object.entries(next[part] as object).filter(([name]) => name !== field);
        return { ...next, [part]: Object.fromEntries(fields) };
      },
    });
  }

  test.each(['inventory', 'lastRelease'])(
    'and has no status.%s is reported, and makes the delays grow',
    async (field) => {
      without('status', field);
      await running();
      expect(await condition('Ready')).toMatchObject({ status: 'False', reason: 'DefinitionOutdated' });
      expect((await condition('Ready'))?.message).toContain(`status.${field}`);
      const writes = world.writes().length;
      const pauses: number[] = [];
      for (let reconciles = 0; reconciles < 8; reconciles += 1) pauses.push((await world.reconcile()).afterMs ?? 0);
      expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
      expect(pauses[0]).toBeGreaterThan(0);
      expect(pauses.at(-1)).toBeGreaterThan(30_000);
      expect(pauses.at(-1)).toBeLessThanOrEqual(60_000);
      expect(world.writes()).toHaveLength(writes);
      isOlder = false;
      await world.reconcile();
      await world.settle();
      expect((await world.addon())?.status).toMatchObject({ ready: true, lastRelease: 'docker-test-1-35-v1' });
      expect(await world.objects()).toEqual([...installed, 'ServiceAccount kube-system/metrics']);
    },
  );

  test('and has no spec.clusterStackNamespace is reported, and makes the delays grow', async () => {
    without('spec', 'clusterStackNamespace');
    await world.release('v1', v1, 'classes');
    await world.create();
    const spec = { topology: { classRef: { name: 'docker-test-1-35-v1', namespace: 'classes' } } };
    await world.setCluster({ release: 'v1', spec });
    const end = await world.settle();
    expect(end.afterMs).toBeGreaterThan(0);
    expect(await condition('Ready')).toMatchObject({ status: 'False', reason: 'DefinitionOutdated' });
    expect((await condition('Ready'))?.message).toContain('spec.clusterStackNamespace');
    isOlder = false;
    await world.settle();
    expect((await world.addon())?.spec.clusterStackNamespace).toBe('classes');
    expect((await world.addon())?.status?.ready).toBe(true);
  });

  test('is not reported for a status that lost a race', async () => {
    await world.release('v1', v1);
    await world.create();
    const race = new ApiError(409, 'Conflict', 'the object has been modified');
    world.management.failNext({ verb: 'patch', subresource: 'status' }, race, 5);
    for (let reconciles = 0; reconciles < 12; reconciles += 1) {
      await world.reconcile();
      expect((await condition('Ready'))?.reason).not.toBe('DefinitionOutdated');
    }
    expect((await world.addon())?.status?.ready).toBe(true);
  });

  test('and lacks an unused field delays nothing', async () => {
    without('status', 'completedHooks');
    await running();
    expect((await world.addon())?.status?.ready).toBe(true);
  });
});
