import { beforeEach, describe, expect, test } from '@jest/globals';
import { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import { capiCluster, capiClusterClass } from '../../../api/cluster-api/kinds.ts';
import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import { clusterStackRelease } from '../../api/cluster-stack-release.ts';
import type { ClusterStackRelease } from '../../api/cluster-stack-release.ts';
import type { ClusterStack, ClusterStackStatus } from '../../api/cluster-stack.ts';
import { clusterStack } from '../../api/cluster-stack.ts';
import type { KindRef, Resource } from '../../../api/meta.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import { KindDiscovery } from '../../../runtime/client/kind-discovery.ts';
import type { ReconcileResult } from '../../../runtime/reconcile/controller.ts';
import { ClusterStackObjects, stacksNamespace as namespace } from '../../../testing/builders/cluster-stack-objects.ts';
import { FakeAssetStore } from '../../../testing/fake/fake-asset-store.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { access } from './access.ts';
import { clusterStackController } from './controller.ts';

const group = 'infrastructure.clusterstack.x-k8s.io';
const templates: KindRef = {
  group,
  version: 'v1alpha1',
  kind: 'DockerClusterStackReleaseTemplate',
  plural: 'dockerclusterstackreleasetemplates',
  namespaced: true,
};
const providerReleases: KindRef = {
  ...templates,
  kind: 'DockerClusterStackRelease',
  plural: 'dockerclusterstackreleases',
};
const served = [templates, providerReleases].map(({ kind, plural: name }) => ({ kind, name, namespaced: true }));

class World {
  readonly cluster = new FakeCluster({
    access,
    texts: { [`/apis/${group}/v1alpha1`]: JSON.stringify({ resources: served }) },
  });
  readonly make = new ClusterStackObjects(this.cluster);
  readonly assets = new FakeAssetStore();
  clusters: readonly CapiCluster[] = [];
  classes: readonly Resource[] = [];
  #controller = this.#start();

  #start() {
    return clusterStackController({
      memory: new ObjectMemory(),
      cluster: this.cluster,
      assets: this.assets,
      discovery: new KindDiscovery(this.cluster),
      source: {},
      watchFilter: '',
      clusters: () => this.clusters,
      classes: () => this.classes,
      stacks: () => [],
    });
  }

  restart(): void {
    this.#controller = this.#start();
  }

  async reconcile(
    stack: ClusterStack,
  ): Promise<ReconcileResult<ClusterStack> & { readonly status: ClusterStackStatus }> {
    const key = { namespace, name: stack.metadata.name };
    const now = await this.cluster.admin.get(clusterStack, key);
    const result = await this.#controller.reconcile(now ?? stack, this.make.context());
    if (result.status === undefined) throw new Error('the reconcile left no status');
    const body = { status: result.status };
    await this.cluster.admin.patch(clusterStack, key, { type: 'merge', body }, { subresource: 'status' });
    return { ...result, status: result.status };
  }

  async releases(): Promise<readonly string[]> {
    const { items } = await this.cluster.admin.list(clusterStackRelease, { namespace });
    return items.map(({ metadata }) => metadata.name).sort();
  }

  get writes(): readonly string[] {
    return this.cluster.calls
      .filter(({ verb }) => ['create', 'apply', 'patch', 'delete'].includes(verb))
      .map(({ verb }) => verb);
  }
}

let world: World;
beforeEach(() => {
  world = new World();
});

const names = (...versions: string[]): readonly string[] =>
  versions.map((version) => `docker-scs-1-30-${version}`).sort();
const push = (...versions: string[]): void => {
  for (const version of versions)
    world.assets.push(`docker-scs-1-30-${version}`, { digit: '1', kubernetes: 'v1.30.10' });
};
const ready = (kubernetesVersion = 'v1.30.10') => ({ ready: true, kubernetesVersion });
const release = (version: string, owner: ClusterStack, status: object = ready()): Promise<ClusterStackRelease> =>
  world.make.release(`docker-scs-1-30-${version}`, { owners: [owner], status });
const condition = (status: ClusterStackStatus, type: string) => status.conditions?.find((one) => one.type === type);

describe('A ClusterStack', () => {
  test('has the versions of its spec, and the newest of its source', async () => {
    push('v1', 'v2', 'v10', 'v0-sha-abc');
    const stack = await world.make.stack({ versions: ['v1', 'v0-sha.rwvgrna'] });
    await world.reconcile(stack);
    expect(await world.releases()).toEqual(names('v0-sha-rwvgrna', 'v1', 'v10'));
    const made = await world.cluster.admin.get(clusterStackRelease, { namespace, name: 'docker-scs-1-30-v10' });
    expect(made?.metadata.ownerReferences).toEqual([
      { apiVersion: stack.apiVersion, kind: 'ClusterStack', name: 'scs', uid: stack.metadata.uid },
    ]);
    expect(world.make.events).toContain('Normal ReleaseCreated: created ClusterStackRelease docker-scs-1-30-v10');
  });

  test('passes the label by which managers share objects on to its releases, also when it changes', async () => {
    const label = 'cluster.x-k8s.io/watch-filter';
    const stack = await world.make.stack({ versions: ['v1'], autoSubscribe: false });
    const labels = async () =>
      (await world.cluster.admin.get(clusterStackRelease, { namespace, name: 'docker-scs-1-30-v1' }))?.metadata.labels;
    await world.reconcile(stack);
    expect((await labels())?.[label]).toBeUndefined();
    const body = { metadata: { labels: { [label]: 'blue' } } };
    await world.cluster.admin.patch(clusterStack, { namespace, name: 'scs' }, { type: 'merge', body });
    await world.reconcile(stack);
    expect(await labels()).toEqual({ [label]: 'blue' });
  });

  test('does not read its source if it does not subscribe', async () => {
    await world.reconcile(await world.make.stack({ versions: ['v1'], autoSubscribe: false }));
    expect(await world.releases()).toEqual(names('v1'));
    expect(world.assets.calls).toEqual([]);
  });

  test('reports the state of its releases, newest first', async () => {
    push('v10');
    const stack = await world.make.stack({ versions: ['v9'] });
    await release('v9', stack);
    const reason = {
      type: 'Ready',
      status: 'False',
      reason: 'TemplateFailed',
      message: 'no such value',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    } as const;
    const done = {
      type: 'ClusterStackReleaseDownloaded',
      status: 'True',
      reason: 'Succeeded',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    } as const;
    await release('v10', stack, { ready: false, conditions: [reason, done] });
    const { status } = await world.reconcile(stack);
    expect(status.summary).toEqual([
      { name: 'v10', ready: false, phase: 'provider-specific work', message: 'TemplateFailed: no such value' },
      { name: 'v9', ready: true, phase: 'done' },
    ]);
    expect(status).toMatchObject({ usableVersions: 'v9', latestRelease: 'docker-scs-1-30-v9 | v1.30.10' });
    expect(condition(status, 'ClusterStackReleaseAvailable')?.status).toBe('True');
    expect(condition(status, 'Ready')?.status).toBe('True');
  });

  test('writes nothing when nothing has changed', async () => {
    push('v1');
    const stack = await world.make.stack();
    await world.reconcile(stack);
    await world.reconcile(stack);
    const before = world.writes.length;
    const { status } = await world.reconcile(stack);
    expect(world.writes.length).toBe(before);
    expect((await world.reconcile(stack)).status).toEqual(status);
  });

  test('reads its source at its poll interval, and again after a restart', async () => {
    push('v1');
    const stack = await world.make.stack({ pollInterval: '1m' });
    expect((await world.reconcile(stack)).afterMs).toBe(60_000);
    world.make.now = new Date(world.make.now.getTime() + 59_000);
    expect((await world.reconcile(stack)).afterMs).toBe(1000);
    expect(world.assets.calls).toEqual(['list']);
    push('v2');
    world.make.now = new Date(world.make.now.getTime() + 1000);
    await world.reconcile(stack);
    expect(await world.releases()).toContain('docker-scs-1-30-v2');
    world.restart();
    await world.reconcile(stack);
    expect(world.assets.calls).toEqual(['list', 'list', 'list']);
  });
});

describe('A release that is not the newest', () => {
  test('is deleted if it is neither requested nor used', async () => {
    push('v2');
    const stack = await world.make.stack();
    await release('v1', stack);
    await release('v2', stack);
    await world.reconcile(stack);
    expect(await world.releases()).toEqual(names('v2'));
    expect(world.make.events.join()).toContain('removed ClusterStackRelease docker-scs-1-30-v1');
  });

  test('stays until the newer one is ready', async () => {
    push('v2');
    const stack = await world.make.stack();
    await release('v1', stack);
    await release('v2', stack, { ready: false });
    await world.reconcile(stack);
    expect(await world.releases()).toEqual(names('v1', 'v2'));
  });

  test('stays while a Cluster of another namespace uses it', async () => {
    push('v2');
    const stack = await world.make.stack();
    await release('v1', stack);
    await release('v2', stack);
    world.clusters = [await world.make.capiCluster('a', 'docker-scs-1-30-v1', 'team')];
    await world.reconcile(stack);
    expect(await world.releases()).toEqual(names('v1', 'v2'));
  });

  test('stays if its version has a suffix and a Cluster uses it: its class has a dot where it has a dash', async () => {
    push('v0-sha-new');
    const stack = await world.make.stack({ channel: 'custom' });
    await release('v0-sha-old', stack);
    await release('v0-sha-new', stack);
    world.clusters = [await world.make.capiCluster('a', 'docker-scs-1-30-v0-sha.old', 'team')];
    await world.reconcile(stack);
    expect(await world.releases()).toEqual(names('v0-sha-new', 'v0-sha-old'));
  });

  test('stays if a Cluster began to use it that the cache does not contain yet', async () => {
    push('v2');
    const stack = await world.make.stack();
    await release('v1', stack);
    await release('v2', stack);
    await world.make.capiCluster('a', 'renamed', 'team');
    await world.make.capiClass('renamed', 'docker-scs-1-30-v1');
    await world.reconcile(stack);
    expect(await world.releases()).toEqual(names('v1', 'v2'));
  });

  test('stays if the webhook refuses its deletion at the last moment', async () => {
    push('v2');
    const stack = await world.make.stack();
    await release('v1', stack);
    await release('v2', stack);
    world.cluster.failNext({ verb: 'delete' }, new ApiError(403, 'Forbidden', 'used by team/a'));
    const { error } = await world.reconcile(stack);
    expect(error).toBeUndefined();
    expect(world.make.events.join()).toContain('docker-scs-1-30-v1 was not removed: used by team/a');
  });

  test('is left to another ClusterStack that also has it', async () => {
    push('v2');
    const [stack, other] = [await world.make.stack(), await world.make.stack({ versions: ['v1'] }, 'other')];
    await world.make.release('docker-scs-1-30-v1', { owners: [stack, other], status: ready() });
    await release('v2', stack);
    await world.reconcile(stack);
    const left = await world.cluster.admin.get(clusterStackRelease, { namespace, name: 'docker-scs-1-30-v1' });
    expect(left?.metadata.ownerReferences?.map(({ name }) => name)).toEqual(['other']);
    await world.reconcile(other);
    expect(await world.releases()).toContain('docker-scs-1-30-v1');
  });
});

describe('A source that cannot be read', () => {
  test('sets ReleasesSynced to False with the reason, and no release is removed', async () => {
    const stack = await world.make.stack({ versions: ['v3'] });
    await release('v1', stack, { ready: false });
    await release('v2', stack);
    world.assets.fail('SourceUnavailableError');
    const { status, afterMs } = await world.reconcile(stack);
    expect(condition(status, 'ReleasesSynced')).toMatchObject({
      status: 'False',
      reason: 'FailedToSync',
      severity: 'Error',
      message: expect.stringContaining('the registry is away'),
    });
    expect(condition(status, 'Ready')).toMatchObject({ status: 'False', reason: 'FailedToSync' });
    expect(await world.releases()).toEqual(names('v1', 'v2', 'v3'));
    expect(afterMs).toBe(60_000);
  });

  test('and then returns an empty list removes no release either', async () => {
    push('v1');
    const stack = await world.make.stack();
    await world.reconcile(stack);
    await release('v0', stack);
    world.assets.remove('docker-scs-1-30-v1');
    world.restart();
    await world.reconcile(stack);
    expect(await world.releases()).toEqual(names('v0', 'v1'));
  });

  test('because a directory is missing is reported if the stack subscribes', async () => {
    const stack = await world.make.stack({ source: { type: 'directory' } });
    const { status } = await world.reconcile(stack);
    expect(condition(status, 'AssetsClientAPIAvailable')).toMatchObject({
      status: 'False',
      reason: 'FailedCreateAssetsClient',
      message: expect.stringContaining('--cluster-stacks-folder'),
    });
    expect(condition(status, 'ReleasesSynced')?.status).toBe('False');
    expect(condition(status, 'ClusterStackReleaseAvailable')).toMatchObject({ status: 'False', reason: 'NoRelease' });
  });

  test('because it has no release of the stack is reported', async () => {
    world.assets.push('docker-scs-1-31-v1', { digit: '1', kubernetes: 'v1.31.0' });
    const { status } = await world.reconcile(await world.make.stack());
    expect(condition(status, 'ReleasesSynced')).toMatchObject({ status: 'False', reason: 'NoReleaseFound' });
  });
});

describe('The custom channel', () => {
  test('accepts any suffix, and uses the release that was created last', async () => {
    for (const [suffix, createdAt] of [
      ['zzz', '2026-01-01T00:00:00Z'],
      ['aaa', '2026-02-01T00:00:00Z'],
    ] as const) {
      world.assets.push(`docker-scs-1-30-v0-sha.${suffix}`, { digit: '1', kubernetes: 'v1.30.1', createdAt });
    }
    push('v7');
    const stack = await world.make.stack({ channel: 'custom' });
    await world.reconcile(stack);
    expect(await world.releases()).toEqual(names('v0-sha-aaa'));
    world.make.now = new Date(world.make.now.getTime() + 300_000);
    await world.reconcile(stack);
    expect(world.assets.calls.filter((call) => call.startsWith('current'))).toHaveLength(2);
  });
});

describe('A custom channel with more releases than are read at once', () => {
  const asked = (): number => world.assets.calls.filter((call) => call.startsWith('current')).length;
  const later = (ms: number): void => {
    world.make.now = new Date(world.make.now.getTime() + ms);
  };
  const pushMany = (count: number): void => {
    for (let made = 0; made < count; made += 1) {
      const createdAt = new Date(Date.UTC(2026, 0, 1) + ((made * 7) % count) * 60_000).toISOString();
      world.assets.push(`docker-scs-1-30-v0-sha.x${made}`, { digit: '1', kubernetes: 'v1.30.1', createdAt });
    }
  };

  test('reads some at each reconcile, continues soon, and reports how many are left', async () => {
    pushMany(150);
    const stack = await world.make.stack({ channel: 'custom', pollInterval: '5m' });
    const looks = [];
    for (let look = 0; look < 4; look += 1) {
      const { status, afterMs } = await world.reconcile(stack);
      looks.push([asked(), afterMs, condition(status, 'ReleasesSynced')?.message]);
      later(afterMs ?? 0);
    }
    const text = (left: number): string =>
      `the creation times of ${left} of 150 releases of channel custom are not known yet, and a newer one may be among them; at most 64 are looked up at a time: remove old tags, or list versions in spec.versions`;
    expect(looks).toEqual([
      [64, 60_000, expect.stringContaining(text(86))],
      [128, 60_000, expect.stringContaining(text(22))],
      [150, 300_000, ''],
      [150, 300_000, ''],
    ]);
    // The one that was made last: (107 * 7) % 150 is 149.
    expect(await world.releases()).toContain('docker-scs-1-30-v0-sha-x107');
  });

  test('removes no release while some are left', async () => {
    pushMany(100);
    const stack = await world.make.stack({ channel: 'custom' });
    await release('v0-sha-old', stack, { ready: false });
    await world.reconcile(stack);
    expect(await world.releases()).toContain('docker-scs-1-30-v0-sha-old');
    later(60_000);
    await world.reconcile(stack);
    expect(await world.releases()).not.toContain('docker-scs-1-30-v0-sha-old');
  });

  test('begins with the highest numbers', async () => {
    pushMany(100);
    world.assets.push('docker-scs-1-30-v3-sha.new', {
      ...{ digit: '1', kubernetes: 'v1.30.1', createdAt: '2026-09-01T00:00:00Z' },
    });
    await world.reconcile(await world.make.stack({ channel: 'custom' }));
    expect(await world.releases()).toContain('docker-scs-1-30-v3-sha-new');
  });

  test('keeps what it has read if the source fails in between', async () => {
    pushMany(10);
    const current = world.assets.current.bind(world.assets);
    let left = 4;
    world.assets.current = (...request) => {
      left -= 1;
      if (left < 0)
        return Promise.reject(Object.assign(new Error('too many requests'), { name: 'SourceUnavailableError' }));
      return current(...request);
    };
    const stack = await world.make.stack({ channel: 'custom' });
    const { status } = await world.reconcile(stack);
    expect(condition(status, 'ReleasesSynced')).toMatchObject({ status: 'False', reason: 'FailedToSync' });
    left = 6;
    await world.reconcile(stack);
    expect(await world.releases()).toHaveLength(1);
    expect(asked()).toBe(10);
  });
});

describe('A stack with a provider', () => {
  const providerRef = { apiVersion: `${group}/v1alpha1`, kind: templates.kind, name: 'images' };
  const template = (spec: object): Promise<Resource> =>
    world.cluster.seed(templates, {
      apiVersion: `${group}/v1alpha1`,
      kind: templates.kind,
      metadata: { namespace, name: 'images' },
      spec: { template: { spec } },
    });

  test('has a provider object for each release, with the spec of its template', async () => {
    push('v1');
    await template({ identity: 'a' });
    const stack = await world.make.stack({ noProvider: false, providerRef });
    const { status } = await world.reconcile(stack);
    const key = { namespace, name: 'docker-scs-1-30-v1' };
    expect(await world.cluster.admin.get(providerReleases, key)).toMatchObject({ spec: { identity: 'a' } });
    const made = await world.cluster.admin.get(clusterStackRelease, key);
    expect(made?.spec.providerRef).toEqual({ ...key, apiVersion: providerRef.apiVersion, kind: providerReleases.kind });
    expect(condition(status, 'ProviderClusterStackReleasesSynced')?.status).toBe('True');
    const before = world.writes.length;
    await world.reconcile(stack);
    expect(world.writes.length).toBe(before);
    await template({ identity: 'b' });
    await world.reconcile(stack);
    expect(await world.cluster.admin.get(providerReleases, key)).toMatchObject({ spec: { identity: 'b' } });
  });

  test('reports that its template does not exist', async () => {
    const { status } = await world.reconcile(
      await world.make.stack({ noProvider: false, providerRef, versions: ['v1'] }),
    );
    expect(condition(status, 'ProviderClusterStackReleasesSynced')).toMatchObject({
      status: 'False',
      reason: 'ProviderTemplateNotFound',
      message: expect.stringContaining('images'),
    });
  });
});

test('a release whose name is too long for a label is refused with the limit', async () => {
  const name = 'a'.repeat(40);
  const { status } = await world.reconcile(await world.make.stack({ name, versions: ['v0-sha.rwvgrna'] }));
  expect(condition(status, 'ClusterStackReleasesSynced')).toMatchObject({
    status: 'False',
    reason: 'FailedToCreateOrUpdate',
  });
  expect(await world.releases()).toEqual([]);
});

test('a Cluster that changes its class causes reconciles of the old and the new stack', async () => {
  const stack = await world.make.stack();
  const { watches } = clusterStackController({
    memory: new ObjectMemory(),
    ...{ cluster: world.cluster, assets: world.assets, discovery: new KindDiscovery(world.cluster), source: {} },
    ...{ watchFilter: '', clusters: () => [], classes: () => [] },
    stacks: (where) => (where === namespace ? [stack] : []),
  });
  const watch = watches.find(({ kind }) => kind.kind === capiCluster.kind);
  const [v1, v2] = [await world.make.capiCluster('a', 'v1', 'team'), await world.make.capiCluster('a', 'v2', 'team')];
  expect(watch?.keys(v1, v2)).toEqual([{ namespace, name: 'scs' }]);
  expect(watch?.keys(v2, v2)).toEqual([]);
  expect(watches.map(({ kind }) => kind.kind)).toContain(capiClusterClass.kind);
});
