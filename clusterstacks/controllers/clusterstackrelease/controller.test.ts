import { beforeEach, describe, expect, test } from '@jest/globals';
import { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import { capiClusterClass } from '../../../api/cluster-api/kinds.ts';
import { clusterStackRelease } from '../../api/cluster-stack-release.ts';
import type { ClusterStackRelease, ClusterStackReleaseStatus } from '../../api/cluster-stack-release.ts';
import { clusterStackFinalizers } from '../../api/names.ts';
import { isReasonOf } from '../../../api/conditions.ts';
import type { KindRef, Manifest, Resource } from '../../../api/meta.ts';
import type { LastReconcile, ReconcileResult } from '../../../runtime/reconcile/controller.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import { KindDiscovery } from '../../../runtime/client/kind-discovery.ts';
import type { RenderRequest } from '../../sources/renderer.ts';
import { admitBySchema } from '../../../testing/fake/admit-by-schema.ts';
import { emptyInformers } from '../../../testing/fake/empty-informers.ts';
import { ClusterStackObjects, stacksNamespace as namespace } from '../../../testing/builders/cluster-stack-objects.ts';
import { FakeAssetStore } from '../../../testing/fake/fake-asset-store.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { omit } from '../../../testing/fake/stored-object.ts';
import { access } from './access.ts';
import { clusterStackReleaseController } from './controller.ts';

const kind = (group: string, name: string, namespaced = true): KindRef => ({
  ...{ group, version: 'v1beta2', kind: name, plural: `${name.toLowerCase()}s`, namespaced },
});
const clusterTemplate = kind('infrastructure.cluster.x-k8s.io', 'DockerClusterTemplate');
const machineTemplate = kind('infrastructure.cluster.x-k8s.io', 'DockerMachineTemplate');
const configTemplate = kind('bootstrap.cluster.x-k8s.io', 'KubeadmConfigTemplate');
const identity = kind('infrastructure.cluster.x-k8s.io', 'DockerIdentity', false);
const network = kind('infrastructure.cluster.x-k8s.io', 'DockerNetwork');
const providerReleases = kind('infrastructure.clusterstack.x-k8s.io', 'DockerClusterStackRelease');

const served = (...all: KindRef[]): string =>
  JSON.stringify({
    resources: all.map(({ plural: name, namespaced, kind: named }) => ({ name, namespaced, kind: named })),
  });

const manifest = (of: KindRef, name: string, more: object = {}, metadata: object = {}): Manifest => ({
  apiVersion: `${of.group}/${of.version}`,
  kind: of.kind,
  metadata: { name, ...metadata },
  ...more,
});

class World {
  bootstrap = served(configTemplate);
  /** Whether the definition of ClusterStackReleases is of a version without digests. */
  isOldDefinition = false;
  readonly cluster = new FakeCluster({
    access,
    now: () => Date.now(),
    admit: (of, object, old) => {
      const next = admitBySchema(of, object, old);
      if (!this.isOldDefinition || of.kind !== clusterStackRelease.kind) return next;
      return { ...next, status: omit((next.status ?? {}) as { readonly digest?: string }, 'digest') };
    },
    texts: {
      '/apis/cluster.x-k8s.io/v1beta2': served(capiClusterClass),
      '/apis/infrastructure.cluster.x-k8s.io/v1beta2': served(clusterTemplate, machineTemplate, identity, network),
      '/apis/bootstrap.cluster.x-k8s.io/v1beta2': () => this.bootstrap,
      '/apis/infrastructure.clusterstack.x-k8s.io/v1beta2': served(providerReleases),
    },
  });
  readonly make = new ClusterStackObjects(this.cluster);
  readonly assets = new FakeAssetStore();
  readonly requests: RenderRequest[] = [];
  chart: readonly Manifest[] = [
    manifest(clusterTemplate, 'cluster', { spec: { template: {} } }),
    manifest(machineTemplate, 'worker'),
    manifest(capiClusterClass, 'docker-scs-1-30-v1', { spec: {} }),
  ];
  renders: Error | undefined;
  /** What each rendering gives. */
  renderChart = (): readonly Manifest[] => this.chart;
  furtherKinds: ReadonlySet<string> = new Set();
  #controller = this.#start();

  #start() {
    return clusterStackReleaseController({
      memory: new ObjectMemory(),
      cluster: this.cluster,
      assets: this.assets,
      renderer: {
        render: (request) => {
          this.requests.push(request);
          return this.renders === undefined ? Promise.resolve(this.renderChart()) : Promise.reject(this.renders);
        },
      },
      discovery: new KindDiscovery(this.cluster),
      source: {},
      watchFilter: '',
      furtherKinds: this.furtherKinds,
      informers: emptyInformers,
      classes: () => [],
      releases: () => [],
      enqueue: () => undefined,
    });
  }

  restart(): void {
    this.#controller = this.#start();
  }

  /** A release of a stack, with the finalizer that the runtime sets before the first reconcile. */
  async begin(version = 'v1', spec: object = {}): Promise<void> {
    const stack = await this.make.stack();
    await this.make.release(`docker-scs-1-30-${version}`, { owners: [stack], spec });
    const finalizers = [clusterStackFinalizers.release];
    const body = { metadata: { finalizers } };
    await this.cluster.admin.patch(clusterStackRelease, this.key(version), { type: 'merge', body });
  }

  key(version = 'v1') {
    return { namespace, name: `docker-scs-1-30-${version}` };
  }

  async found(version = 'v1'): Promise<ClusterStackRelease> {
    const found = await this.cluster.admin.get(clusterStackRelease, this.key(version));
    if (found === undefined) throw new Error(`there is no release ${version}`);
    return found;
  }

  async reconcile(
    version = 'v1',
  ): Promise<ReconcileResult<ClusterStackRelease> & { readonly status: ClusterStackReleaseStatus }> {
    const result = await this.#controller.reconcile(await this.found(version), this.make.context());
    if (result.status === undefined) throw new Error('the reconcile left no status');
    await this.#keep(version, result.status);
    result.stored?.(await this.found(version));
    return { ...result, status: result.status };
  }

  /** The reconcile that pins the release, and the one that creates its objects. */
  async settle(
    version = 'v1',
  ): Promise<ReconcileResult<ClusterStackRelease> & { readonly status: ClusterStackReleaseStatus }> {
    await this.reconcile(version);
    return this.reconcile(version);
  }

  async finalize(): Promise<LastReconcile<ClusterStackRelease>> {
    await this.cluster.admin.delete(clusterStackRelease, this.key());
    const result = await this.#controller.finalize?.(await this.found(), this.make.context());
    if (result?.status !== undefined) await this.#keep('v1', result.status);
    return result ?? { finished: false };
  }

  async #keep(version: string, status: ClusterStackReleaseStatus): Promise<void> {
    const patch = { type: 'merge', body: { status } } as const;
    await this.cluster.admin.patch(clusterStackRelease, this.key(version), patch, { subresource: 'status' });
  }

  get(of: KindRef, name: string): Promise<Resource | undefined> {
    return this.cluster.admin.get(of, { namespace, name });
  }
}

let world: World;
beforeEach(() => {
  world = new World();
  world.assets.push('docker-scs-1-30-v1', { digit: '1', kubernetes: 'v1.30.10' });
});
const condition = (status: ClusterStackReleaseStatus, type: string) =>
  status.conditions?.find((one) => one.type === type);

describe('A ClusterStackRelease', () => {
  test('is pinned first, and then creates and owns its ClusterClass and templates', async () => {
    await world.begin();
    const first = await world.reconcile();
    expect(first.status).toMatchObject({
      digest: `sha256:${'1'.repeat(64)}`,
      source: 'registry.example.com/stacks docker-scs-1-30-v1',
      observedAt: '2026-01-01T00:00:00Z',
      kubernetesVersion: 'v1.30.10',
      ready: false,
    });
    expect(await world.get(capiClusterClass, 'docker-scs-1-30-v1')).toBeUndefined();
    const { status } = await world.reconcile();
    expect(status.ready).toBe(true);
    expect(condition(status, 'Ready')?.status).toBe('True');
    for (const [of, name] of [
      [capiClusterClass, 'docker-scs-1-30-v1'],
      [clusterTemplate, 'cluster'],
      [machineTemplate, 'worker'],
    ] as const) {
      const found = await world.get(of, name);
      expect(found?.metadata.labels).toMatchObject({
        'clusterstack.x-k8s.io/instance': 'owned',
        'clusterstack.x-k8s.io/release': 'docker-scs-1-30-v1',
        'clusterstack.x-k8s.io/stack': 'docker-scs',
      });
      expect(found?.metadata.ownerReferences).toMatchObject([{ kind: 'ClusterStackRelease', controller: true }]);
    }
    expect(status.resources?.map(({ kind: named, status: is }) => `${named} ${is}`)).toEqual([
      'ClusterClass synced',
      'DockerClusterTemplate synced',
      'DockerMachineTemplate synced',
    ]);
    expect(world.requests).toHaveLength(2);
    expect(world.requests.slice(1)).toEqual([
      {
        chart: expect.stringContaining('/cache/1/'),
        releaseName: 'docker-scs-1-30',
        namespace,
        kubernetesVersion: 'v1.30.10',
        requester: { namespace, name: 'docker-scs-1-30-v1' },
      },
    ]);
  });

  test('waits if its digest is not stored because its definition is older than the manager, and continues once it is updated', async () => {
    world.isOldDefinition = true;
    await world.begin();
    await world.reconcile();
    const { status, afterMs } = await world.reconcile();
    expect(condition(status, 'HelmChartApplied')).toMatchObject({ status: 'False', reason: 'DefinitionOutdated' });
    expect(condition(status, 'HelmChartApplied')?.message).toContain('status.digest');
    expect(afterMs).toBeGreaterThanOrEqual(30_000);
    expect(await world.get(capiClusterClass, 'docker-scs-1-30-v1')).toBeUndefined();
    world.isOldDefinition = false;
    await world.reconcile();
    expect((await world.reconcile()).status.ready).toBe(true);
  });

  test('writes the same status again if nothing has changed, and renders once', async () => {
    await world.begin();
    const { status } = await world.settle();
    const again = await world.reconcile();
    expect(again.status).toEqual(status);
    expect(world.requests).toHaveLength(2);
  });

  test('keeps its digest when the tag is moved, also after a restart, and reports it', async () => {
    await world.begin();
    await world.settle();
    world.assets.push('docker-scs-1-30-v1', { digit: '2', kubernetes: 'v1.30.11' });
    world.restart();
    const { status } = await world.reconcile();
    expect(status).toMatchObject({ digest: `sha256:${'1'.repeat(64)}`, kubernetesVersion: 'v1.30.10', ready: true });
    expect(world.assets.calls.filter((call) => call.startsWith('assets')).at(-1)).toBe('assets docker-scs-1-30-v1 1');
    expect(condition(status, 'ClusterStackReleaseDownloaded')?.message).toContain(
      `now points to sha256:${'2'.repeat(64)}`,
    );
    expect(world.make.events.join()).toContain('Warning TagMoved');
  });

  test('repairs its ClusterClass and templates after changes and deletions', async () => {
    await world.begin();
    await world.settle();
    const body = {
      spec: { template: { changed: true } },
      metadata: { labels: { 'clusterstack.x-k8s.io/release': 'x' } },
    };
    await world.cluster.admin.patch(clusterTemplate, { namespace, name: 'cluster' }, { type: 'merge', body });
    await world.cluster.admin.delete(capiClusterClass, { namespace, name: 'docker-scs-1-30-v1' });
    await world.reconcile();
    expect((await world.get(clusterTemplate, 'cluster'))?.metadata.labels).toMatchObject({
      'clusterstack.x-k8s.io/release': 'docker-scs-1-30-v1',
    });
    expect(await world.get(capiClusterClass, 'docker-scs-1-30-v1')).toBeDefined();
    expect(world.make.events.join()).toContain('DriftRepaired');
  });

  test('distinguishes objects of different kinds with one name', async () => {
    world.chart = [manifest(clusterTemplate, 'x'), manifest(machineTemplate, 'x'), manifest(configTemplate, 'x')];
    await world.begin();
    const { status } = await world.settle();
    expect(status.resources).toHaveLength(3);
    for (const one of [clusterTemplate, machineTemplate, configTemplate])
      expect(await world.get(one, 'x')).toBeDefined();
  });

  test('prunes what its chart no longer contains, but not an object whose API version changed', async () => {
    await world.begin();
    await world.settle();
    const uid = (await world.get(clusterTemplate, 'cluster'))?.metadata.uid;
    const { status } = await world.found();
    const resources = (status?.resources ?? []).map((one) => ({
      ...one,
      version: one.kind === 'ClusterClass' ? 'v1beta2' : 'v1beta1',
    }));
    const patch = { type: 'merge', body: { status: { resources } } } as const;
    await world.cluster.admin.patch(clusterStackRelease, world.key(), patch, { subresource: 'status' });
    world.chart = world.chart.filter(({ kind: named }) => named !== 'DockerMachineTemplate');
    world.chart = [...world.chart, manifest(machineTemplate, 'other')];
    world.restart();
    await world.reconcile();
    expect((await world.get(clusterTemplate, 'cluster'))?.metadata.uid).toBe(uid);
    expect(await world.get(machineTemplate, 'worker')).toBeUndefined();
    expect(await world.get(machineTemplate, 'other')).toBeDefined();
  });
});

describe('A source that fails', () => {
  test('before the first files arrived sets a condition, and the next reconcile continues', async () => {
    await world.begin();
    world.assets.fail('SourceUnavailableError');
    const { status, error } = await world.reconcile();
    expect(error).toBeUndefined();
    expect(condition(status, 'ClusterStackReleaseDownloaded')).toMatchObject({
      status: 'False',
      reason: 'ReleaseAssetsNotDownloadedYet',
      message: 'the registry is away',
    });
    world.assets.fail();
    expect((await world.settle()).status.ready).toBe(true);
  });

  test('afterwards leaves the release usable, and is reported', async () => {
    await world.begin();
    await world.settle();
    world.assets.fail('SourceUnavailableError');
    const { status } = await world.reconcile();
    expect(status.ready).toBe(true);
    expect(condition(status, 'Ready')).toMatchObject({ status: 'False', reason: 'ReleaseAssetsNotDownloadedYet' });
  });

  test('with an unexpected error is retried with backoff', async () => {
    await world.begin();
    world.assets.fail('TypeError', 'no space left');
    expect((await world.reconcile()).error).toMatchObject({ message: 'no space left' });
  });

  test.each([
    ['versions.clusterStack is v2', { version: 'v2', kubernetes: 'v1.30.1' }],
    ['versions.kubernetes is v1.31.0', { version: 'v1', kubernetes: 'v1.31.0' }],
  ])('because its files say %s is reported as such', async (message, content) => {
    world.assets.push('docker-scs-1-30-v1', { digit: '1', ...content });
    await world.begin();
    const { status } = await world.reconcile();
    expect(condition(status, 'ClusterStackReleaseDownloaded')).toMatchObject({
      reason: 'IssueWithReleaseAssets',
      severity: 'Error',
      message: expect.stringContaining(message),
    });
    expect(status.digest).toBeUndefined();
  });
});

describe('A chart', () => {
  test('that cannot be rendered is reported with the message of helm', async () => {
    world.renders = new Error('nil pointer evaluating interface {}.images');
    await world.begin();
    const { status } = await world.settle();
    expect(condition(status, 'HelmChartApplied')).toMatchObject({
      status: 'False',
      reason: 'TemplateFailed',
      message: expect.stringContaining('.images'),
    });
    expect(status.ready).toBe(false);
  });

  test('with kinds that do not exist applies nothing until they do', async () => {
    world.bootstrap = served();
    world.chart = [...world.chart, manifest(configTemplate, 'worker')];
    await world.begin();
    const { status, afterMs } = await world.settle();
    expect(condition(status, 'HelmChartApplied')).toMatchObject({
      reason: 'ObjectsApplyingOngoing',
      message: expect.stringContaining('KubeadmConfigTemplate (bootstrap.cluster.x-k8s.io/v1beta2)'),
    });
    expect(afterMs).toBe(20_000);
    expect(await world.get(clusterTemplate, 'cluster')).toBeUndefined();
    world.bootstrap = served(configTemplate);
    expect((await world.reconcile()).status.ready).toBe(true);
  });

  test('cannot create objects in another namespace, or cluster-scoped ones', async () => {
    world.chart = [
      ...world.chart,
      manifest(machineTemplate, 'spy', {}, { namespace: 'kube-system' }),
      manifest(identity, 'all'),
    ];
    await world.begin();
    const { status } = await world.settle();
    expect(status.ready).toBe(false);
    expect(condition(status, 'HelmChartApplied')).toMatchObject({ status: 'False', reason: 'FailedToApplyObjects' });
    const bad = status.resources?.filter(({ status: is }) => is === 'not-synced');
    expect(bad?.map(({ name, error }) => [name, error])).toEqual([
      ['all', expect.stringContaining('it is cluster-scoped')],
      ['spy', expect.stringContaining('metadata.namespace is kube-system')],
    ]);
    expect(await world.cluster.admin.get(machineTemplate, { namespace: 'kube-system', name: 'spy' })).toBeUndefined();
  });

  test('cannot create what is not part of a ClusterClass, although the manager may, unless the operator allows its kind', async () => {
    world.chart = [...world.chart, manifest(network, 'admin', { spec: {} })];
    await world.begin();
    const { status } = await world.settle();
    const name = `${network.kind}.${network.group}`;
    expect(condition(status, 'HelmChartApplied')?.message).toContain(`--cluster-stacks-kinds=${name}`);
    expect(await world.cluster.admin.get(network, { namespace, name: 'admin' })).toBeUndefined();
    world.furtherKinds = new Set([name]);
    world.restart();
    expect((await world.settle()).status.ready).toBe(true);
  });

  test('of which the API server refuses one object is not ready, and that object is named', async () => {
    await world.begin();
    await world.reconcile();
    world.cluster.failNext(
      { verb: 'apply', kind: machineTemplate.kind },
      new ApiError(422, 'Invalid', 'spec.template: Required value'),
    );
    const { status } = await world.reconcile();
    expect(status.ready).toBe(false);
    expect(status.resources?.map(({ kind: named, status: is }) => [named, is])).toEqual([
      ['ClusterClass', 'synced'],
      ['DockerClusterTemplate', 'synced'],
      ['DockerMachineTemplate', 'not-synced'],
    ]);
    expect(condition(status, 'HelmChartApplied')?.message).toContain('Required value');
    expect((await world.reconcile()).status.ready).toBe(true);
  });
});

describe('A chart with random parts', () => {
  let made = 0;
  const specOf = async (name: string): Promise<unknown> => {
    const found: (Resource & { readonly spec?: unknown }) | undefined = await world.get(machineTemplate, name);
    return found?.spec;
  };
  const randomly = (of: (password: string) => readonly Manifest[]): void => {
    world.renderChart = () => of(`password-${(made += 1)}`);
  };
  const pair = (password: string): readonly Manifest[] => [
    manifest(clusterTemplate, 'cluster'),
    { ...manifest(machineTemplate, 'authority'), spec: { password } },
    { ...manifest(machineTemplate, 'server'), spec: { password } },
  ];

  test('keeps them over reconciles and restarts, all of one rendering, and prunes none of them', async () => {
    randomly(pair);
    await world.begin();
    expect((await world.settle()).status.ready).toBe(true);
    const before = await specOf('authority');
    expect(await specOf('server')).toEqual(before);
    world.restart();
    const { status } = await world.settle();
    expect(status.resources?.map(({ name, status: is }) => [name, is])).toEqual([
      ['cluster', 'synced'],
      ['authority', 'synced'],
      ['server', 'synced'],
    ]);
    expect([await specOf('authority'), await specOf('server')]).toEqual([before, before]);
  });

  test('generates all of them again if one is missing, and if the annotation requests it', async () => {
    randomly(pair);
    await world.begin();
    await world.settle();
    const before = await specOf('authority');
    await world.cluster.admin.delete(machineTemplate, { namespace, name: 'server' });
    world.restart();
    await world.reconcile();
    const after = await specOf('authority');
    expect(after).not.toEqual(before);
    expect(await specOf('server')).toEqual(after);
    const body = { metadata: { annotations: { 'clusterstack.x-k8s.io/regenerate': '1' } } };
    await world.cluster.admin.patch(clusterStackRelease, world.key(), { type: 'merge', body });
    world.restart();
    await world.reconcile();
    expect(await specOf('server')).not.toEqual(after);
  });

  test('in names is refused before anything is created', async () => {
    randomly((password) => [manifest(machineTemplate, password)]);
    await world.begin();
    const { status } = await world.settle();
    expect(condition(status, 'HelmChartApplied')).toMatchObject({ reason: 'TemplateFailed' });
    expect(condition(status, 'HelmChartApplied')?.message).toContain('a different name each time it is rendered');
  });
});

describe('An object that exists before the release', () => {
  const foreign = (metadata: object = {}): Promise<Resource> =>
    world.cluster.seed(machineTemplate, {
      ...manifest(machineTemplate, 'worker'),
      metadata: { name: 'worker', namespace, ...metadata },
      spec: { template: { theirs: true } },
    });
  const theirs = async (): Promise<boolean> => {
    const found = (await world.get(machineTemplate, 'worker')) as Resource & { spec?: { template?: object } };
    return Object.hasOwn(found.spec?.template ?? {}, 'theirs');
  };

  test.each<[string, object, string]>([
    ['has no owner', {}, 'its fields are written by seed'],
    [
      'has an owner that is no controller',
      { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' }] },
      'it is owned by ConfigMap x',
    ],
    [
      'has a controller',
      { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x', controller: true }] },
      'it is controlled by ConfigMap x',
    ],
    [
      'has the labels of the release, which anybody can write',
      { labels: { 'clusterstack.x-k8s.io/release': 'docker-scs-1-30-v1' } },
      'its label names the release docker-scs-1-30-v1',
    ],
    [
      'is handed to another release',
      { annotations: { 'clusterstack.x-k8s.io/adopt': 'docker-scs-1-30-v2' } },
      'let the release adopt it with the annotation clusterstack.x-k8s.io/adopt=docker-scs-1-30-v1',
    ],
    [
      'is released by its annotation although another owner controls it',
      {
        annotations: { 'clusterstack.x-k8s.io/adopt': 'docker-scs-1-30-v1' },
        ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x', controller: true }],
      },
      'it is controlled by ConfigMap x',
    ],
  ])('and %s is not changed, and is reported with its owner', async (_, metadata, words) => {
    await foreign(metadata);
    await world.begin();
    const { status } = await world.settle();
    expect(status.ready).toBe(false);
    expect(condition(status, 'HelmChartApplied')).toMatchObject({ status: 'False', reason: 'OwnedByAnother' });
    const { message = '' } = condition(status, 'HelmChartApplied') ?? {};
    expect(message).toContain(
      `DockerMachineTemplate ${namespace}/worker already exists and was not created by this release`,
    );
    expect(message).toContain(words);
    expect(isReasonOf('ClusterStackRelease', 'HelmChartApplied', 'OwnedByAnother')).toBe(true);
    expect(await theirs()).toBe(true);
    world.restart();
    await world.reconcile();
    expect(await theirs()).toBe(true);
    expect((await world.finalize()).finished).toBe(true);
    const deleted = world.cluster.calls.filter(({ verb }) => verb === 'delete').map((call) => call.kind?.kind);
    expect(deleted).not.toContain('DockerMachineTemplate');
  });

  test('and is released by its annotation becomes the release’s own', async () => {
    await foreign({ annotations: { 'clusterstack.x-k8s.io/adopt': 'docker-scs-1-30-v1' } });
    await world.begin();
    expect((await world.settle()).status.ready).toBe(true);
    const [owner] = (await world.get(machineTemplate, 'worker'))?.metadata.ownerReferences ?? [];
    expect(owner).toMatchObject({ kind: 'ClusterStackRelease', controller: true });
  });

  test('or replaced one that the release had created, is not changed', async () => {
    await world.begin();
    await world.settle();
    await world.cluster.admin.delete(machineTemplate, { namespace, name: 'worker' });
    await foreign();
    const { status } = await world.reconcile();
    expect(condition(status, 'HelmChartApplied')?.reason).toBe('OwnedByAnother');
    expect(await theirs()).toBe(true);
  });

  test('and was created by it, but has lost its owner, becomes its own again, also after a restart', async () => {
    await world.begin();
    await world.settle();
    const body = { metadata: { ownerReferences: [] } };
    await world.cluster.admin.patch(machineTemplate, { namespace, name: 'worker' }, { type: 'merge', body });
    world.restart();
    expect((await world.reconcile()).status.ready).toBe(true);
    expect((await world.get(machineTemplate, 'worker'))?.metadata.ownerReferences).toHaveLength(1);
  });
});

describe('A release with a provider', () => {
  const providerRef = {
    apiVersion: 'infrastructure.clusterstack.x-k8s.io/v1beta2',
    kind: providerReleases.kind,
    name: 'docker-scs-1-30-v1',
    namespace,
  };

  test('waits until the provider object is ready, and owns it', async () => {
    await world.begin('v1', { providerRef });
    const { status } = await world.settle();
    expect(condition(status, 'ProviderClusterStackReleaseReady')?.reason).toBe('ProviderObjectNotFound');
    await world.cluster.seed(providerReleases, manifest(providerReleases, 'docker-scs-1-30-v1', {}, { namespace }));
    expect(condition((await world.reconcile()).status, 'ProviderClusterStackReleaseReady')?.reason).toBe(
      'ProcessOngoing',
    );
    const object = await world.get(providerReleases, 'docker-scs-1-30-v1');
    expect(object?.metadata.ownerReferences).toMatchObject([{ kind: 'ClusterStackRelease', controller: true }]);
    const patch = { type: 'merge', body: { status: { ready: true } } } as const;
    await world.cluster.admin.patch(providerReleases, { namespace, name: 'docker-scs-1-30-v1' }, patch, {
      subresource: 'status',
    });
    expect((await world.reconcile()).status.ready).toBe(true);
  });
});

describe('The deletion of a release', () => {
  test('waits while a Cluster of another namespace uses its class', async () => {
    await world.begin();
    await world.settle();
    await world.make.capiCluster('a', 'docker-scs-1-30-v1', 'team');
    const result = await world.finalize();
    expect(result.finished).toBe(false);
    expect(result.status && condition(result.status, 'Ready')).toMatchObject({
      reason: 'InUse',
      message: expect.stringContaining('team/a'),
    });
    expect(await world.get(capiClusterClass, 'docker-scs-1-30-v1')).toBeDefined();
  });

  test('removes ClusterClass and templates, the class first', async () => {
    await world.begin();
    await world.settle();
    world.restart();
    expect((await world.finalize()).finished).toBe(true);
    const deleted = world.cluster.calls.filter(({ verb }) => verb === 'delete').map((call) => call.kind?.kind);
    expect(deleted).toEqual(['ClusterClass', 'DockerClusterTemplate', 'DockerMachineTemplate']);
    expect(await world.get(capiClusterClass, 'docker-scs-1-30-v1')).toBeUndefined();
    expect(await world.get(machineTemplate, 'worker')).toBeUndefined();
  });

  test('does not delete what another owner has adopted', async () => {
    await world.begin();
    await world.settle();
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'another', controller: true };
    const body = { metadata: { ownerReferences: [owner] } };
    await world.cluster.admin.patch(machineTemplate, { namespace, name: 'worker' }, { type: 'merge', body });
    expect((await world.finalize()).finished).toBe(true);
    const deleted = world.cluster.calls.filter(({ verb }) => verb === 'delete').map((call) => call.kind?.kind);
    expect(deleted).not.toContain('DockerMachineTemplate');
  });

  test('names what is not gone yet', async () => {
    await world.begin();
    await world.settle();
    const body = { metadata: { finalizers: ['example.com/hold'] } };
    await world.cluster.admin.patch(machineTemplate, { namespace, name: 'worker' }, { type: 'merge', body });
    const result = await world.finalize();
    expect(result).toMatchObject({ finished: false, afterMs: 5000 });
    expect(result.status && condition(result.status, 'Ready')?.message).toContain(
      'DockerMachineTemplate stacks/worker',
    );
  });

  test('is possible before anything was created', async () => {
    await world.begin();
    expect((await world.finalize()).finished).toBe(true);
  });
});
