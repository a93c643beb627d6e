import { afterEach, expect, jest, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import type { Key } from '../../../../api/meta.ts';
import { dataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { InformerFactory } from '../../../../runtime/cache/informer-factory.ts';
import { ObjectMemory } from '../../../../runtime/cache/object-memory.ts';
import { EventRecorder } from '../../../../runtime/observe/event-recorder.ts';
import { silent } from '../../../../runtime/observe/logger.ts';
import { Manager } from '../../../../runtime/reconcile/manager.ts';
import { TenantPool } from '../../../../tenants/pool.ts';
import { TenantWatches } from '../../../../tenants/tenant-watches.ts';
import { clusterLine } from '../../../../testing/contracts/cluster-line.ts';
import { settle } from '../../../../testing/fake/fake-clock.ts';
import { verifiedIsolation } from '../../../../testing/builders/verified-isolation.ts';
import { MigrationWorld } from '../../../../testing/worlds/migration-world.ts';
import { tenantControlPlaneController } from '../../controller.ts';
import { selectionInTenant } from '../../shared/selection-in-tenant.ts';

jest.setTimeout(120_000);

const opened: AsyncDisposableStack[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((stack) => stack.disposeAsync()));
});

/** A tenant that a manager looks after: nothing is reconciled unless an event or the manager's queue asks for it. */
async function managedWorld(): Promise<MigrationWorld> {
  const stack = new AsyncDisposableStack();
  opened.push(stack);
  let informers: InformerFactory | undefined;
  const world = new MigrationWorld({
    informers: ({ cluster, clock }) => {
      informers ??= new InformerFactory({ cluster: cluster.admin, clock });
      return informers;
    },
  });
  await world.running();
  for (const name of ['default', 'other']) await isReady(world, name);
  if (informers === undefined) throw new Error('nothing was watched');
  const { cluster, clock } = world;
  const memory = new ObjectMemory();
  const events = new EventRecorder({
    cluster: cluster.admin,
    clock,
    memory,
    log: silent,
    controller: 'test',
    instance: 'test',
  });
  const controller = tenantControlPlaneController({
    ...{ cluster, clock, memory, informers, stores: world.openStores() },
    pool: new TenantPool({ clock, memory, open: world.tenant.open }),
    watches: new TenantWatches({
      ...{ memory, clock, random: () => 0, select: selectionInTenant },
      open: () => clusterLine(world.tenant),
    }),
    enqueue: (key: Key) => {
      manager.enqueue('tenantcontrolplane', key);
    },
    migrations: {
      namespace: 'steward-system',
      serviceAccount: 'steward-migrate',
      image: () => Promise.resolve('steward:test'),
      minimumHoldMs: 0,
    },
  });
  const manager = new Manager({ controllers: [controller], cluster, informers, clock, memory, log: silent, events });
  await manager.start();
  stack.defer(async () => {
    const stopped = manager.stop(0);
    await clock.advance(20_000);
    await stopped;
    await informers?.close();
  });
  await comeToRest();
  await clock.advance(60_000);
  await comeToRest();
  return world;
}

async function comeToRest(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await settle();
}

async function isReady(world: MigrationWorld, name: string): Promise<void> {
  const { metadata } = (await world.cluster.admin.get(dataStore, { name })) ?? {};
  const at = { observedGeneration: metadata?.generation, lastTransitionTime: '2030-01-01T00:00:00Z' };
  const conditions = [{ type: 'Ready', status: 'True', reason: 'Ready', message: '', ...at }];
  const body = { status: { conditions: [...conditions, verifiedIsolation] } };
  await world.cluster.admin.patch(dataStore, { name }, { type: 'merge', body }, { subresource: 'status' });
}

/** The pods of a Job are gone a second after the Job was deleted, and the Job with them. */
async function finishJob(world: MigrationWorld): Promise<void> {
  const job = await world.job();
  if (job === undefined) return;
  const at = { namespace: 'steward-system', name: job.metadata.name };
  const finalizers = (names: readonly string[] | null) => ({ metadata: { finalizers: names } });
  if (job.metadata.deletionTimestamp !== undefined) {
    await world.clock.advance(1_000);
    await world.cluster.admin.patch(kinds.Job, at, { type: 'merge', body: finalizers(null) });
  } else if (job.metadata.finalizers === undefined) {
    await world.cluster.admin.patch(kinds.Job, at, { type: 'merge', body: finalizers(['test/foreground']) });
  }
}

const storage = async (world: MigrationWorld) =>
  (await world.cluster.admin.get(tenantControlPlane, { namespace: 'default', name: 'tenant' }))?.status?.storage;

/** Lets the manager, the process of the migration and time go on until something is so; returns the seconds that it took. */
async function secondsUntil(world: MigrationWorld, is: () => Promise<boolean>, work = true): Promise<number> {
  const began = world.clock.now().getTime();
  for (let turn = 0; turn < 4_000; turn += 1) {
    if (await is()) return (world.clock.now().getTime() - began) / 1000;
    for (let steps = 0; steps < 20; steps += 1) await settle();
    if (work && turn % 10 === 0) await world.work();
    await finishJob(world);
    await world.clock.advance(100);
  }
  throw new Error(`it never came to that: ${JSON.stringify(await storage(world))}`);
}

const drainDefault = async (world: MigrationWorld): Promise<void> => {
  const body = { spec: { drain: { previousCopies: 'Remove' } } };
  await world.cluster.admin.patch(dataStore, { name: 'default' }, { type: 'merge', body });
  await isReady(world, 'default');
};

test('what waits for the end of a migration continues at once: the copy is removed', async () => {
  const world = await managedWorld();
  await drainDefault(world);
  await secondsUntil(world, async () => (await storage(world))?.migration?.phase === 'Succeeded');
  const seconds = await secondsUntil(world, async () => (await storage(world))?.previous === undefined);
  expect(seconds).toBeLessThan(5);
});

test('a migration that fails is recorded for the drain at once', async () => {
  const world = await managedWorld();
  await drainDefault(world);
  await secondsUntil(world, async () => (await storage(world))?.migration?.phase === 'Copying');
  await world.say({ failure: 'the disk is full' });
  await secondsUntil(world, async () => (await storage(world))?.migration?.phase === 'Failed', false);
  const seconds = await secondsUntil(world, async () => (await storage(world))?.drain?.failures === 1, false);
  expect(seconds).toBeLessThan(5);
});
