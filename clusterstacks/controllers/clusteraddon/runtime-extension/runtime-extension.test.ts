import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { capiCluster, capiClusterClass } from '../../../../api/cluster-api/kinds.ts';
import { clusterAddon } from '../../../api/cluster-addon.ts';
import { clusterStackLabels } from '../../../api/names.ts';
import type { Resource } from '../../../../api/meta.ts';
import { annotations } from '../../../../api/names.ts';
import { textOf } from '../../../../runtime/cache/object-id.ts';
import { FakeClock } from '../../../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../../../testing/fake/fake-cluster.ts';
import { access } from './access.ts';
import { hooksVersion } from './hooks.ts';
import { runtimeExtension } from './runtime-extension.ts';

const [oldClass, newClass] = ['docker-test-1-35-v1', 'docker-test-1-36-v2'] as const;
const otherProvider = { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'OtherControlPlane', name: 'blue' };
const initialized = { initialization: { controlPlaneInitialized: true } };
const path = (hook: string, handler: string): string => `/${hooksVersion}/${hook}/${handler}`;

let server: FakeCluster;
let clock: FakeClock;
let woken: string[];
let calls: ReturnType<typeof runtimeExtension>;

beforeEach(async () => {
  server = new FakeCluster({ access });
  clock = new FakeClock();
  woken = [];
  calls = runtimeExtension({ cluster: server, clock, wake: (addon) => woken.push(textOf(addon)) });
  for (const name of [oldClass, newClass]) await setClass(name, { [clusterStackLabels.release]: name });
  await setCluster();
});

const setClass = (name: string, labels: Readonly<Record<string, string>>): Promise<Resource> =>
  server.seed(capiClusterClass, {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'ClusterClass',
    metadata: { namespace: 'default', name, labels },
  });

const setCluster = (spec: object = {}, status: object = initialized, metadata: object = {}): Promise<Resource> =>
  server.seed(capiCluster, {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { namespace: 'default', name: 'blue', ...metadata },
    spec: { topology: { classRef: { name: newClass } }, controlPlaneRef: otherProvider, ...spec },
    status,
  });

/** Its deletion waits for others. */
async function deleted(): Promise<void> {
  await setCluster({}, initialized, { finalizers: ['cluster.cluster.x-k8s.io'] });
  await server.admin.delete(capiCluster, { namespace: 'default', name: 'blue' });
}

const setAddon = (spec: object, status: object = {}): Promise<Resource> =>
  server.seed(clusterAddon, {
    apiVersion: 'clusterstack.x-k8s.io/v1alpha1',
    kind: 'ClusterAddon',
    metadata: { namespace: 'default', name: 'cluster-addon-blue' },
    spec: { clusterRef: { kind: 'Cluster', name: 'blue' }, ...spec },
    status: { ready: false, ...status },
  });

const unready = (reason: string, message: string): object => ({
  conditions: [{ type: 'Ready', status: 'False', reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' }],
});

async function ask(at: string, document: unknown): Promise<Readonly<Record<string, unknown>>> {
  const call = calls[at];
  if (call === undefined) throw new Error(`nobody answers at ${at}; there are ${Object.keys(calls).join(', ')}`);
  return call(document, { signal: new AbortController().signal });
}

const request = (hook: string, more: object = {}, metadata: object = {}): object => ({
  apiVersion: hooksVersion,
  kind: `${hook}Request`,
  cluster: { metadata: { name: 'blue', namespace: 'default', ...metadata }, spec: {} },
  ...more,
});

const beforeUpgrade = (): Promise<Readonly<Record<string, unknown>>> =>
  ask(
    path('beforeclusterupgrade', 'before-cluster-upgrade'),
    request('BeforeClusterUpgrade', { fromKubernetesVersion: 'v1.35.6', toKubernetesVersion: 'v1.36.3' }),
  );
const afterInitialized = (): Promise<Readonly<Record<string, unknown>>> =>
  ask(path('aftercontrolplaneinitialized', 'after-control-plane-initialized'), request('AfterControlPlaneInitialized'));
const afterUpgrade = (): Promise<Readonly<Record<string, unknown>>> =>
  ask(path('afterclusterupgrade', 'after-cluster-upgrade'), request('AfterClusterUpgrade'));

const passes = {
  apiVersion: hooksVersion,
  kind: 'BeforeClusterUpgradeResponse',
  status: 'Success',
  retryAfterSeconds: 0,
};
const force = `; to upgrade without waiting, set the annotation ${annotations.upgradeBeforeAddons}=v1.36.3 on the Cluster`;
const waits = (message: string): object => ({ ...passes, retryAfterSeconds: 10, message: `${message}${force}` });

describe('Discovery', () => {
  test('names the handlers; only those that can block are required', async () => {
    const answer = await ask(`/${hooksVersion}/discovery`, { apiVersion: hooksVersion, kind: 'DiscoveryRequest' });
    const handler = (hook: string, name: string, failurePolicy: string): object => ({
      name,
      requestHook: { apiVersion: hooksVersion, hook },
      timeoutSeconds: 10,
      failurePolicy,
    });
    expect(answer).toEqual({
      apiVersion: hooksVersion,
      kind: 'DiscoveryResponse',
      status: 'Success',
      handlers: [
        handler('AfterControlPlaneInitialized', 'after-control-plane-initialized', 'Ignore'),
        handler('BeforeClusterUpgrade', 'before-cluster-upgrade', 'Fail'),
        handler('AfterClusterUpgrade', 'after-cluster-upgrade', 'Ignore'),
      ],
    });
  });
});

describe('The upgrade of a Cluster of a cluster stack', () => {
  test('waits for a ClusterAddon that does not exist yet', async () => {
    expect(await beforeUpgrade()).toEqual(
      waits('the upgrade to v1.36.3 waits for ClusterAddon cluster-addon-blue, which does not exist yet'),
    );
  });

  test('waits for a ClusterAddon that has not been reconciled for the new class', async () => {
    await setAddon({ clusterStack: oldClass, hook: '' }, unready('ReleaseAssetsNotDownloadedYet', 'no such tag'));
    expect(await beforeUpgrade()).toEqual(
      waits(
        `the upgrade to v1.36.3 waits for ClusterAddon cluster-addon-blue, which has not observed the ClusterClass ${newClass} yet (ReleaseAssetsNotDownloadedYet)`,
      ),
    );
  });

  test('names the stage that it waits for, and repeats no text of the workload cluster', async () => {
    const run = { class: newClass, digest: 'd', hook: 'BeforeClusterUpgrade' };
    const stages = [
      { name: 'crds', action: 'apply', phase: 'done' },
      { name: 'cni', action: 'apply', phase: 'waitingForPostCondition', message: 'hostile text' },
    ];
    await setAddon(
      { clusterStack: oldClass, hook: 'BeforeClusterUpgrade' },
      { ...unready('FailedToEvaluatePostCondition', 'hostile text'), run, stages },
    );
    expect(await beforeUpgrade()).toEqual(
      waits(
        `the upgrade to v1.36.3 waits for ClusterAddon cluster-addon-blue to complete BeforeClusterUpgrade of the ClusterClass ${newClass}: stage cni is in waitingForPostCondition (FailedToEvaluatePostCondition)`,
      ),
    );
  });

  test('names no stage of another class than the target', async () => {
    const run = { class: 'docker-test-1-36-v1', digest: 'd', hook: 'BeforeClusterUpgrade' };
    const stages = [{ name: 'cni', action: 'apply', phase: 'applyingOrDeleting' }];
    await setAddon({ clusterStack: oldClass, hook: 'BeforeClusterUpgrade' }, { run, stages });
    expect(await beforeUpgrade()).toEqual(
      waits(
        `the upgrade to v1.36.3 waits for ClusterAddon cluster-addon-blue to complete BeforeClusterUpgrade of the ClusterClass ${newClass}`,
      ),
    );
  });

  test('begins when the class is completed, even if stages after it still run', async () => {
    await setAddon({ clusterStack: newClass, hook: '' });
    expect(await beforeUpgrade()).toEqual(passes);
    await setAddon({ clusterStack: newClass, hook: 'AfterClusterUpgrade' });
    expect(await beforeUpgrade()).toEqual(passes);
  });

  test('waits if only a class of the same name in another namespace is completed', async () => {
    await setAddon({ clusterStack: newClass, clusterStackNamespace: 'stacks', hook: '' });
    expect((await beforeUpgrade()).retryAfterSeconds).toBe(10);
  });

  test('is decided by the Cluster as it is stored, not as the caller sent it', async () => {
    await setAddon({ clusterStack: oldClass, hook: '' });
    const forged = request('BeforeClusterUpgrade', { toKubernetesVersion: 'v1.36.3' });
    const cluster = {
      ...(forged as { cluster: object }).cluster,
      spec: { topology: { classRef: { name: oldClass } } },
    };
    const answer = await ask(path('beforeclusterupgrade', 'before-cluster-upgrade'), { ...forged, cluster });
    expect(answer.retryAfterSeconds).toBe(10);
  });

  test.each([
    ['v1.36.3', 'v1.36.3', false],
    [' 1.36.3', 'v1.36.3', false],
    ['v1.36.2', 'v1.36.3', true],
    ['v1.36.3', '', false],
    ['v1.36.2', '', true],
    ['', '', true],
  ])('with the annotation %j and the target version %j: waits %p', async (value, toKubernetesVersion, isHeld) => {
    await setAddon({ clusterStack: oldClass, hook: 'BeforeClusterUpgrade' });
    const topology = { classRef: { name: newClass }, version: 'v1.36.3' };
    await setCluster({ topology }, initialized, { annotations: { [annotations.upgradeBeforeAddons]: value } });
    const about = request('BeforeClusterUpgrade', { toKubernetesVersion });
    const answer = await ask(path('beforeclusterupgrade', 'before-cluster-upgrade'), about);
    expect(answer.retryAfterSeconds).toBe(isHeld ? 10 : 0);
  });

  test.each<[string, () => Promise<unknown>]>([
    [
      'whose control plane is a StewardControlPlane',
      () => setCluster({ controlPlaneRef: { ...otherProvider, kind: 'StewardControlPlane' } }),
    ],
    ['whose class no release made', () => setClass(newClass, {})],
    ['whose class is not there', () => setCluster({ topology: { classRef: { name: 'gone' } } })],
    ['without a class', () => setCluster({ topology: undefined })],
    ['whose control plane never ran', () => setCluster({}, { initialization: { controlPlaneInitialized: false } })],
    [
      'where ClusterAddons are not installed',
      async () => {
        await Promise.resolve();
        server.withdraw(clusterAddon);
      },
    ],
    ['that is being deleted', () => deleted()],
    ['that is not there', () => server.admin.delete(capiCluster, { namespace: 'default', name: 'blue' })],
  ])('begins at once for one %s', async (_, change) => {
    await setAddon({ clusterStack: oldClass, hook: 'BeforeClusterUpgrade' });
    await change();
    expect(await beforeUpgrade()).toEqual(passes);
    expect(woken).toEqual([]);
  });
});

describe('A manager of some of the Clusters', () => {
  beforeEach(() => setAddon({ clusterStack: oldClass, hook: 'BeforeClusterUpgrade' }));

  const partly = (only: { readonly watchFilter?: string; readonly namespace?: string }): void => {
    calls = runtimeExtension({ cluster: server, clock, wake: (addon) => woken.push(textOf(addon)), ...only });
  };

  test('blocks those with the label of its filter, and no others', async () => {
    partly({ watchFilter: 'team' });
    expect(await beforeUpgrade()).toEqual(passes);
    await setCluster({}, initialized, { labels: { 'cluster.x-k8s.io/watch-filter': 'team' } });
    expect((await beforeUpgrade()).retryAfterSeconds).toBe(10);
  });

  test('blocks those of its namespace, and reads no others', async () => {
    partly({ namespace: 'elsewhere' });
    const before = server.calls.length;
    expect(await beforeUpgrade()).toEqual(passes);
    expect(server.calls).toHaveLength(before);
    partly({ namespace: 'default' });
    expect((await beforeUpgrade()).retryAfterSeconds).toBe(10);
  });
});

describe('Hooks after an event', () => {
  test('enqueue the ClusterAddon that has something to do, and never block', async () => {
    await setAddon({ clusterStack: '', hook: '' });
    expect(await afterInitialized()).toMatchObject({ status: 'Success', retryAfterSeconds: 0 });
    expect(woken).toEqual(['default/cluster-addon-blue']);
  });

  test('enqueue it at the end of an upgrade until it has done what follows', async () => {
    await setAddon({ clusterStack: newClass }, { completedHooks: ['BeforeClusterUpgrade'] });
    expect(await afterUpgrade()).toMatchObject({ status: 'Success', retryAfterSeconds: 0 });
    expect(woken).toEqual(['default/cluster-addon-blue']);
    await clock.advance(10_000);
    await setAddon({ clusterStack: newClass }, { completedHooks: ['BeforeClusterUpgrade', 'AfterClusterUpgrade'] });
    await afterUpgrade();
    expect(woken).toHaveLength(1);
  });

  test('enqueue nothing that has nothing to do, whether the Cluster exists or not', async () => {
    await afterInitialized();
    await setAddon({ clusterStack: newClass, hook: '' });
    await afterInitialized();
    await afterUpgrade();
    await setCluster({ controlPlaneRef: { ...otherProvider, kind: 'StewardControlPlane' } });
    await setAddon({ clusterStack: '', hook: '' });
    await afterInitialized();
    expect(woken).toEqual([]);
  });

  test('enqueue it at most once in ten seconds, however often they are called', async () => {
    await setAddon({ clusterStack: '', hook: '' });
    for (let n = 0; n < 5; n += 1) await afterInitialized();
    expect(woken).toHaveLength(1);
    await clock.advance(10_000);
    await afterInitialized();
    expect(woken).toHaveLength(2);
  });
});

describe('Any call', () => {
  test('writes nothing', async () => {
    await setAddon({ clusterStack: '', hook: '' });
    const before = server.calls.length;
    await Promise.all([beforeUpgrade(), afterInitialized(), afterUpgrade()]);
    expect(new Set(server.calls.slice(before).map(({ verb }) => verb))).toEqual(new Set(['get', 'list']));
  });

  test.each<[string, unknown]>([
    ['nothing', null],
    ['another kind', request('AfterClusterUpgrade')],
    ['another version', { ...request('BeforeClusterUpgrade'), apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1beta1' }],
    ['no Cluster', request('BeforeClusterUpgrade', { cluster: undefined })],
    ['no namespace', request('BeforeClusterUpgrade', {}, { namespace: '' })],
    ['a path for a name', request('BeforeClusterUpgrade', {}, { name: '../../secrets/x' })],
    ['a text for a version', request('BeforeClusterUpgrade', { toKubernetesVersion: 'v1.36.3 and more' })],
  ])('about %s is refused', async (_, document) => {
    const at = path('beforeclusterupgrade', 'before-cluster-upgrade');
    await expect(ask(at, document)).rejects.toMatchObject({ name: 'BadCallError' });
  });

  test('about anything else is refused as such, without a read', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (document) => {
        const before = server.calls.length;
        for (const at of Object.keys(calls)) {
          await expect(ask(at, document)).rejects.toMatchObject({ name: 'BadCallError' });
        }
        expect(server.calls).toHaveLength(before);
      }),
    );
  });
});
