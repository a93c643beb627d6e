import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import { capiCluster, capiClusterClass, capiMachineDeployment } from '../../api/cluster-api/kinds.ts';
import { clusterStackKinds } from '../api/kinds.ts';
import { clusterStack } from '../api/cluster-stack.ts';
import type { ClusterStack } from '../api/cluster-stack.ts';
import { clusterAddon } from '../api/cluster-addon.ts';
import type { ClusterAddon } from '../api/cluster-addon.ts';
import { clusterStackRelease } from '../api/cluster-stack-release.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { Key, KindRef, PolicyRule } from '../../api/meta.ts';
import { clusterAddonOf } from '../controllers/clusteraddon/cluster-controller.ts';
import { ExternalClusters } from '../../controllers/stewardcontrolplane/hosting/external-clusters.ts';
import { InfrastructureWatches } from '../../controllers/stewardcontrolplane/infrastructure/infrastructure-watches.ts';
import { BlockerWatches } from '../../controllers/stewardcontrolplane/infrastructure/blocker-watches.ts';
import { EventRecorder, eventKind, microTime } from '../../runtime/observe/event-recorder.ts';
import { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import { detached } from '../../runtime/detached.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { Manager } from '../../runtime/reconcile/manager.ts';
import { Metrics } from '../../runtime/observe/metrics.ts';
import { Sessions } from '../../stores/sessions.ts';
import { UseMeter } from '../../tenants/use/use-meter.ts';
import { TenantPool } from '../../tenants/pool.ts';
import { ClusterStackObjects, stacksNamespace as namespace } from '../../testing/builders/cluster-stack-objects.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { Closing } from '../../cmd/closing.ts';
import { clusterStacksLayer } from './cluster-stacks-layer.ts';
import { coreControllers } from '../../cmd/controllers.ts';
import type { Shared } from '../../cmd/controllers.ts';
import { clusterStacksRole, declaredRoles } from '../../cmd/declared-access.ts';
import { readManagerSettings } from '../../cmd/flags/manager-settings.ts';
import { withinNamespace } from '../../cmd/admission/within-namespace.ts';

const coreAccess = declaredRoles.flatMap(({ parts }) => parts.flatMap(({ access }) => access));
const layerAccess = clusterStacksRole.parts.flatMap(({ access }) => access);

/** A manager as cmd/manager.ts puts it together, beside an API server in memory. */
class World {
  readonly clock = new FakeClock();
  readonly rights: PolicyRule[] = [...coreAccess, ...layerAccess];
  readonly cluster: FakeCluster;
  readonly make: ClusterStackObjects;
  readonly #closing = new Closing();
  readonly #managers: Manager[] = [];
  #layer: ReturnType<typeof clusterStacksLayer>;

  constructor(absent: readonly KindRef[] = []) {
    const now = (): number => this.clock.now().getTime();
    this.cluster = new FakeCluster({ access: this.rights, absent, now });
    this.make = new ClusterStackObjects(this.cluster);
  }

  /** Resolves when the core is at work. */
  async start(...flags: readonly string[]): Promise<void> {
    const { cluster, clock } = this;
    const settings = readManagerSettings(['--feature-gates=ClusterStacks=true', ...flags], { POD_NAMESPACE: 'system' });
    const everywhere = new InformerFactory({ cluster, clock, random: () => 0.5 });
    this.#closing.add(everywhere, (open) => open.close());
    const informers = withinNamespace(everywhere, settings.namespace);
    const memory = new ObjectMemory();
    const common = { cluster, clock, log: silent, random: () => 0.5, memory, enqueue: () => undefined };
    const open = (): FakeCluster => cluster;
    const shared: Shared = {
      ...{ cluster, informers, clock, memory, watches: undefined, prober: undefined, metrics: new Metrics() },
      sessions: new Sessions({ clock }),
      useMeter: new UseMeter({ clock, memory, log: silent, random: () => 0.5 }),
      quotas: { measurementOf: () => ({}) },
      pool: new TenantPool({ memory, clock, open }),
      external: new ExternalClusters({ ...common, open }),
      infrastructure: new InfrastructureWatches({ ...common, namespace: settings.namespace }),
      blockers: new BlockerWatches(common),
      enqueue: (controller: string, key: Key) => {
        this.#managers.find((one) => one.has(controller))?.enqueue(controller, key);
      },
    };
    const events = new EventRecorder({
      memory,
      cluster,
      clock,
      log: silent,
      controller: 'test/manager',
      instance: 'a',
    });
    const managerOf = (controllers: ConstructorParameters<typeof Manager>[0]['controllers']): Manager => {
      const manager = new Manager({ memory, controllers, cluster, informers, clock, log: silent, events });
      this.#managers.push(manager);
      return manager;
    };
    const core = coreControllers(settings, shared);
    const manager = managerOf(core.controllers);
    this.#layer = clusterStacksLayer(settings, {
      ...{ shared, everywhere, log: silent, closing: this.#closing, layerWatches: core.layerWatches },
      manager: managerOf,
      webhookTrouble: () => undefined,
    });
    const running = this.#layer?.run(Promise.resolve());
    if (running !== undefined) detached(running, silent, 'the layer');
    const started = manager.start();
    await clock.advance(0);
    await started;
  }

  async stop(): Promise<void> {
    const stopped = Promise.all([this.#layer?.stop(0), ...this.#managers.map((manager) => manager.stop(0))]);
    await this.clock.advance(10_000);
    await stopped;
    await this.#closing.close();
  }

  waits(): string | undefined {
    return this.#layer?.health.check();
  }

  async stack(name = 'scs'): Promise<ClusterStack | undefined> {
    return this.cluster.admin.get(clusterStack, { namespace, name });
  }

  async renewLease(): Promise<void> {
    await this.cluster.seed(kinds.Lease, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'cso-system', name: 'clusterstack.x-k8s.io' },
      ...{ spec: { holderIdentity: 'cso-1', renewTime: microTime(this.clock.now()) } },
    });
    await this.clock.advance(0);
  }
}

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.stop());

describe('The cluster stacks layer', () => {
  test('waits alone for its definitions, names them, and starts when they exist', async () => {
    world = new World([...clusterStackKinds, capiCluster, capiClusterClass, capiMachineDeployment]);
    await world.start();
    expect(world.waits()).toContain('clusterstacks.clusterstack.x-k8s.io: there is no such API');
    expect(world.waits()).toContain('machinedeployments.cluster.x-k8s.io: there is no such API');
    for (const kind of clusterStackKinds) world.cluster.serve(kind);
    await world.clock.advance(60_000);
    expect(world.waits()).toContain('machinedeployments.cluster.x-k8s.io: there is no such API');
    for (const kind of [capiCluster, capiClusterClass, capiMachineDeployment]) world.cluster.serve(kind);
    await world.make.stack({ autoSubscribe: false });
    await world.clock.advance(60_000);
    expect(world.waits()).toBeUndefined();
    expect((await world.stack())?.status?.conditions).toBeDefined();
  });

  test('waits alone for its permissions, names them, and starts when it has them', async () => {
    world.rights.splice(0, world.rights.length, ...coreAccess);
    await world.start();
    expect(world.waits()).toMatch(/clusterstacks\.clusterstack\.x-k8s\.io: .*forbidden/);
    expect(world.waits()).toMatch(/leases\.coordination\.k8s\.io: .*forbidden/);
    world.rights.push(...layerAccess);
    await world.make.stack({ autoSubscribe: false });
    await world.clock.advance(60_000);
    expect(world.waits()).toBeUndefined();
    expect((await world.stack())?.status?.conditions).toBeDefined();
  });

  test('changes nothing while the cluster-stack-operator leads, reports that, and continues when that is gone', async () => {
    await world.make.stack({ autoSubscribe: false });
    await world.make.capiClass('docker-scs-1-30-v1', 'docker-scs-1-30-v1');
    await world.make.capiCluster('blue', 'docker-scs-1-30-v1');
    await world.renewLease();
    await world.start();
    await world.clock.advance(1_000);
    expect((await world.stack())?.status).toBeUndefined();
    expect(world.waits()).toContain('cso-1 (Lease cso-system/clusterstack.x-k8s.io)');
    const { items } = await world.cluster.admin.list(eventKind, { namespace });
    const told = { reason: 'Paused', note: expect.stringContaining('the cluster-stack-operator cso-1') };
    expect(items).toEqual([expect.objectContaining(told)]);
    const addons = async (): Promise<number> => (await world.cluster.admin.list(clusterAddon)).items.length;
    expect(await addons()).toBe(0);
    await world.clock.advance(61_000);
    expect(world.waits()).toBeUndefined();
    expect((await world.stack())?.status?.conditions).toBeDefined();
    expect(await addons()).toBe(1);
  });

  test('does not exist if none of its controllers is chosen', async () => {
    await world.start('--controllers=*,-clusterstack,-clusterstackrelease,-clusteraddon,-clusteraddon-cluster');
    expect(world.waits()).toBeUndefined();
    expect(world.cluster.calls.filter(({ kind }) => kind?.kind === 'Lease')).toEqual([]);
  });
});

describe('The objects that a manager reconciles', () => {
  const watched = { 'cluster.x-k8s.io/watch-filter': 'blue' };
  const mark = (kind: KindRef, key: Key, labels: Readonly<Record<string, string | null>> = watched) =>
    world.cluster.admin.patch(kind, key, { type: 'merge', body: { metadata: { labels } } });
  const addons = async (): Promise<readonly ClusterAddon[]> => (await world.cluster.admin.list(clusterAddon)).items;

  /** Two Clusters of a release that has not been fetched yet. */
  beforeEach(async () => {
    await world.make.capiClass('docker-scs-1-30-v1', 'docker-scs-1-30-v1');
    for (const [name, at] of [
      ['ours', namespace],
      ['theirs', namespace],
      ['elsewhere', 'other'],
    ] as const) {
      await world.make.capiCluster(name, 'docker-scs-1-30-v1', at);
    }
  });

  test('are labeled Clusters with --watch-filter, whose ClusterAddons get the label and keep the Cluster’s', async () => {
    await mark(capiCluster, { namespace, name: 'ours' });
    await world.start('--watch-filter=blue');
    await world.clock.advance(1_000);
    const [addon, ...others] = await addons();
    expect(others).toEqual([]);
    expect(addon?.metadata).toMatchObject({ name: 'cluster-addon-ours', labels: watched });
    expect(addon?.status?.conditions).toBeDefined();
    await mark(capiCluster, { namespace, name: 'theirs' });
    await world.clock.advance(1_000);
    expect((await addons()).map(({ metadata }) => metadata.name).sort()).toEqual([
      'cluster-addon-ours',
      'cluster-addon-theirs',
    ]);
  });

  test('include no ClusterAddon without the label with --watch-filter', async () => {
    const cluster = await world.cluster.admin.get(capiCluster, { namespace, name: 'theirs' });
    if (cluster === undefined) throw new Error('there is no Cluster');
    await world.cluster.seed(clusterAddon, { ...clusterAddonOf(cluster) });
    await world.start('--watch-filter=blue');
    await world.clock.advance(1_000);
    expect((await addons()).map(({ status, metadata }) => [status, metadata.finalizers])).toEqual([
      [undefined, undefined],
    ]);
  });

  test('are all Clusters without a filter, and a ClusterAddon follows the label of its Cluster', async () => {
    await world.start();
    await world.clock.advance(1_000);
    expect(await addons()).toHaveLength(3);
    await mark(capiCluster, { namespace, name: 'ours' });
    await world.clock.advance(1_000);
    const key = { namespace, name: 'cluster-addon-ours' };
    expect((await world.cluster.admin.get(clusterAddon, key))?.metadata.labels).toEqual(watched);
    await mark(capiCluster, { namespace, name: 'ours' }, { 'cluster.x-k8s.io/watch-filter': null });
    await world.clock.advance(1_000);
    expect((await world.cluster.admin.get(clusterAddon, key))?.metadata.labels ?? {}).toEqual({});
  });

  test('can be deleted while the layer is off, because ClusterAddons have no finalizer of it', async () => {
    await world.start();
    await world.clock.advance(1_000);
    await world.stop();
    for (const { metadata } of await addons()) {
      await world.cluster.admin.delete(clusterAddon, {
        namespace: metadata.namespace,
        name: metadata.name,
      });
    }
    expect(await addons()).toEqual([]);
  });

  test('include ClusterAddons at once when their release is created or fetched, whatever their backoff', async () => {
    await world.start('--controllers=*,-clusterstackrelease');
    const reason = async (name: string): Promise<string | undefined> => {
      const found = (await addons()).find(({ metadata }) => metadata.name === `cluster-addon-${name}`);
      return found?.status?.conditions?.find(({ type }) => type === 'Ready')?.message;
    };
    // Pauses have become minutes.
    await world.clock.advance(20 * 60_000);
    expect(await reason('ours')).toMatch(/^ClusterStackRelease docker-scs-1-30-v1 .* does not exist/);
    await world.make.release('docker-scs-1-30-v1');
    await world.clock.advance(1);
    expect(await reason('ours')).toContain('docker-scs-1-30-v1 has not been fetched yet');
    await world.clock.advance(20 * 60_000);
    const digest = `sha256:${'0'.repeat(64)}`;
    const key = { namespace, name: 'docker-scs-1-30-v1' };
    const body = { status: { ready: true, digest } };
    await world.cluster.admin.patch(clusterStackRelease, key, { type: 'merge', body }, { subresource: 'status' });
    await world.clock.advance(1);
    // Its files are looked for then, wherever the Cluster is.
    for (const name of ['ours', 'theirs', 'elsewhere']) expect(await reason(name)).not.toContain('fetched yet');
  });

  test('are the stacks, releases and add-ons of one namespace with --namespace', async () => {
    await world.make.stack({ autoSubscribe: false });
    await world.make.release('docker-scs-1-30-v9');
    await world.start('--namespace=other');
    await world.clock.advance(1_000);
    expect((await world.stack())?.status).toBeUndefined();
    const { items } = await world.cluster.admin.list(clusterStackRelease, { namespace });
    expect(items.map(({ metadata, status }) => [metadata.finalizers, status])).toEqual([[undefined, undefined]]);
    expect((await addons()).map(({ metadata }) => metadata.name)).toEqual(['cluster-addon-elsewhere']);
  });
});
