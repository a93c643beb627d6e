import { describe, expect, jest, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import type { KindRef, Resource } from '../../../../api/meta.ts';
import type { Cluster, Patch } from '../../../../runtime/client/cluster.ts';
import { annotations, freezePolicy } from '../../../../api/names.ts';
import { StoreError } from '../../../../stores/store-error.ts';
import { MigrationWorld, storeLabel } from '../../../../testing/worlds/migration-world.ts';

// Each of some thirty reconciles sends everything again.
jest.setTimeout(60_000);

async function moving(): Promise<MigrationWorld> {
  const world = new MigrationWorld();
  await world.running();
  await world.moveTo('other');
  return world;
}

async function migrationPhase(world: MigrationWorld): Promise<string | undefined> {
  return (await world.read()).status?.storage?.migration?.phase;
}

async function message(world: MigrationWorld): Promise<string> {
  const conditions = (await world.read()).status?.conditions ?? [];
  return conditions.find(({ type }) => type === 'Migrating')?.message ?? '';
}

const { ValidatingAdmissionPolicy: policyKind, ValidatingAdmissionPolicyBinding: bindingKind } = kinds;
const readOnly = { name: freezePolicy };
const byAdministrator = { fieldManager: 'an administrator of the tenant' };
/** With this, requests for objects of nearly all namespaces are not denied. */
const selector = { namespaceSelector: { matchLabels: { denied: 'true' } } };
const specOf = (object: Resource | undefined): unknown =>
  object === undefined ? undefined : Reflect.get(object, 'spec');
const addition = (spec: object): Patch => ({ type: 'merge', body: { spec } });

const only = (store: { readonly tenancies: ReadonlyMap<string, unknown> }): string =>
  [...store.tenancies.keys()].join();

describe('A tenant whose DataStore is changed', () => {
  test('is migrated there with its pods', async () => {
    const world = await moving();
    const record = await world.migrate();
    expect(record.phase).toBe('Succeeded');
    const { storage } = (await world.read()).status ?? {};
    expect(storage).toMatchObject({ dataStoreName: 'other', driver: 'PostgreSQL' });
    const labels = (await world.pods()).map(({ metadata }) => metadata.labels?.[storeLabel]);
    expect(labels).toEqual(['other', 'other']);
    expect(await world.frozen()).toBe(false);
    expect(await world.state()).toBe('Ready');
    expect(await world.condition('Ready')).toBe('True');
    expect(await world.condition('Migrating')).toContain('False Succeeded: writes were denied for');
    expect(await world.job()).toBeUndefined();
  });

  test('leaves its copy behind without access to it, until its removal is requested', async () => {
    const world = await moving();
    await world.migrate();
    const schema = only(world.store);
    expect([...world.store.revoked]).toEqual([schema]);
    expect((await world.read()).status?.storage?.previous).toMatchObject([{ dataStoreName: 'default', schema }]);
    await world.change({ metadata: { annotations: { [annotations.removePreviousData]: 'default' } } });
    await world.settle();
    expect(world.store.tenancies.size).toBe(0);
    expect(world.target.tenancies.size).toBe(1);
    expect((await world.read()).status?.storage?.previous).toBeUndefined();
    expect((await world.read()).metadata.annotations?.[annotations.removePreviousData]).toBeUndefined();
  });

  test('is used as before while the data is copied, and reports the progress', async () => {
    const world = await moving();
    await world.until('Copying');
    expect(await world.state()).toBe('Ready');
    expect(await world.frozen()).toBe(false);
    expect(await world.record()).toMatchObject({ keys: 10, bytes: 1000, rate: 5, remaining: 30 });
    // Each quarter is reported once.
    const told = world.events.length;
    await world.reconcile();
    expect(world.events).toHaveLength(told);
    await world.until('Following');
    expect(world.events.join('\n')).toContain('MigrationProgress: Following');
  });

  test('is Migrating only while every API server denies writes', async () => {
    const world = await moving();
    const seen = new Set<string>();
    for (let turn = 0; turn < 40 && (await migrationPhase(world)) !== 'Succeeded'; turn += 1) {
      await world.reconcile();
      const denied = (await world.frozen()) && !world.deafServers;
      const state = await world.state();
      if (state === 'Migrating' && !denied)
        throw new Error(`Migrating was published without the freeze, in turn ${turn}`);
      seen.add(`${state ?? ''} ${(await world.record()).phase}`);
      await world.work();
      await world.clock.advance(200);
    }
    expect([...seen]).toEqual(
      expect.arrayContaining(['Ready Following', 'Migrating Finishing', 'Migrating Switching', 'Ready Succeeded']),
    );
  });

  test('reports read-only mode to the process only when each pod has denied a write', async () => {
    const world = await moving();
    await world.until('StoppingWrites');
    world.deafServers = true;
    const reconciling = world.reconcile();
    await world.clock.advance(5_000);
    await reconciling;
    expect(await world.told(annotations.migrationFreezeInForce)).toBeUndefined();
    expect(await world.state()).toBe('Ready');
    expect(await message(world)).toContain('the API server of pod tenant-1 still accepts writes');
    world.deafServers = false;
    await world.reconcile();
    expect(await world.told(annotations.migrationFreezeInForce)).toBe('first');
    expect(await world.state()).toBe('Migrating');
  });

  test('allows writes again if the process postpones its last step, and denies them again when it repeats its request', async () => {
    const world = await moving();
    await world.until('Finishing');
    await world.say({ journal: { phase: 'Following' }, wish: null });
    await world.reconcile();
    expect(await world.frozen()).toBe(false);
    expect(await world.state()).toBe('Ready');
    expect(await world.told(annotations.migrationFreezeInForce)).toBeUndefined();
    expect((await world.migrate()).phase).toBe('Succeeded');
  });

  test('denies writes until the last pod on the old datastore is gone, and shortens its grace period', async () => {
    const world = await moving();
    world.podsStop = false;
    await world.until('Switching');
    for (let reconciles = 0; reconciles < 5; reconciles += 1) await world.reconcile();
    expect(await world.frozen()).toBe(true);
    expect(await world.state()).toBe('Migrating');
    expect(await world.condition('Migrating')).toBe('True');
    const stopping = (await world.pods()).filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
    expect(stopping).toHaveLength(2);
    await world.finishPods();
    expect((await world.migrate()).phase).toBe('Succeeded');
  });

  test('measures how long writes were denied, and how much of it was the rollout', async () => {
    const world = await moving();
    world.podsStart = false;
    await world.until('Switching');
    await world.reconcile();
    await world.clock.advance(7_000);
    world.podsStart = true;
    await world.startPods();
    await world.cluster.admin.delete(kinds.Deployment, { namespace: 'default', name: 'tenant' });
    const { pauseMs = 0, rolloutMs = 0 } = await world.migrate();
    expect(rolloutMs).toBeGreaterThanOrEqual(7_000);
    expect(pauseMs - rolloutMs).toBeLessThan(2_000);
    expect(world.events.join('\n')).toMatch(
      /MigrationSucceeded: .*writes were denied for [0-9.]+ s, [0-9.]+ s of it outside/,
    );
  });

  test('stays Migrating for as long as was requested', async () => {
    const world = await moving();
    await world.change({ metadata: { annotations: { [annotations.migrationMinimumHold]: '15s' } } });
    await world.until('Switching');
    await world.reconcile();
    const end = await world.reconcile();
    expect(end.afterMs).toBe(2_000);
    expect(await message(world)).toContain('Migrating is shown for the requested minimum time');
    await world.clock.advance(14_999);
    await world.reconcile();
    expect(await world.state()).toBe('Migrating');
    await world.clock.advance(1);
    expect((await world.migrate()).pauseMs).toBeGreaterThanOrEqual(15_000);
  });

  test.each<[string, KindRef, (admin: Cluster) => Promise<unknown>]>([
    ['deleted binding', bindingKind, (admin) => admin.delete(bindingKind, readOnly)],
    ['deleted policy', policyKind, (admin) => admin.delete(policyKind, readOnly)],
    [
      'binding for few namespaces',
      bindingKind,
      (admin) => admin.patch(bindingKind, readOnly, addition({ matchResources: selector }), byAdministrator),
    ],
    [
      'policy for few namespaces',
      policyKind,
      (admin) => admin.patch(policyKind, readOnly, addition({ matchConstraints: selector }), byAdministrator),
    ],
  ])('has a %s restored on the new datastore, and finishes', async (_what, kind, harm) => {
    const world = await moving();
    await world.change({ metadata: { annotations: { [annotations.migrationMinimumHold]: '5s' } } });
    await world.until('Switching');
    await world.reconcile();
    const before = specOf(await world.tenant.admin.get(kind, readOnly));
    await harm(world.tenant.admin);
    expect((await world.reconcile()).afterMs ?? Infinity).toBeLessThanOrEqual(2_000);
    expect(before).toBeDefined();
    expect(specOf(await world.tenant.admin.get(kind, readOnly))).toEqual(before);
    expect(world.events.filter((event) => event.startsWith('WritesDeniedAgain'))).toHaveLength(1);
    expect((await world.migrate()).phase).toBe('Succeeded');
  });

  test('is migrated after it was scaled to zero', async () => {
    const world = new MigrationWorld();
    await world.running();
    await world.change({ spec: { controlPlane: { deployment: { replicas: 0 } } } });
    await world.settle();
    await world.moveTo('other');
    expect((await world.migrate()).phase).toBe('Succeeded');
    expect(await world.state()).toBe('Sleeping');
    await world.change({ spec: { controlPlane: { deployment: { replicas: 2 } } } });
    await world.settle();
    expect(await world.state()).toBe('Ready');
  });

  test('is migrated while it sleeps, without an API server', async () => {
    const world = new MigrationWorld();
    await world.running({ deployment: { replicas: 0 } });
    await world.moveTo('other');
    expect((await world.migrate()).phase).toBe('Succeeded');
    expect(await world.state()).toBe('Sleeping');
    expect(await world.pods()).toEqual([]);
    const label = (await world.deployment())?.spec?.template.metadata?.labels?.[storeLabel];
    expect(label).toBe('other');
  });

  test('gets other names if its own belong to another owner', async () => {
    const world = new MigrationWorld();
    await world.running();
    const own = only(world.store);
    world.target.tenancies.set(own, { schema: own, user: own, owner: 'somebody else' });
    await world.moveTo('other');
    expect((await world.migrate()).phase).toBe('Succeeded');
    const { setup } = (await world.read()).status?.storage ?? {};
    expect(setup?.schema).not.toBe(own);
    expect(world.target.tenancies.get(own)?.owner).toBe('somebody else');
  });

  test('never shares a name with its old copy in a datastore of the same kind', async () => {
    const world = new MigrationWorld();
    await world.running();
    // Two DataStores that lead to one server.
    await world.leadTo('alias', world.store);
    const before = only(world.store);
    await world.moveTo('alias');
    expect((await world.migrate()).phase).toBe('Succeeded');
    expect([...world.store.tenancies.keys()]).toContain(before);
    expect(world.store.tenancies.size).toBe(2);
    await world.change({ metadata: { annotations: { [annotations.removePreviousData]: 'default' } } });
    await world.settle();
    expect([...world.store.tenancies.keys()]).toEqual([(await world.read()).status?.storage?.setup?.schema]);
  });
});

describe('A migration that does not succeed', () => {
  const asBefore = async (world: MigrationWorld): Promise<void> => {
    expect(world.store.fenced).toEqual([]);
    expect(world.target.tenancies.size).toBe(0);
    expect(await world.frozen()).toBe(false);
    expect(await world.state()).toBe('Ready');
    const { storage } = (await world.read()).status ?? {};
    expect(storage).toMatchObject({ dataStoreName: 'default', driver: 'etcd', setup: { schema: only(world.store) } });
    expect((await world.pods()).map(({ metadata }) => metadata.labels?.[storeLabel])).toEqual(['default', 'default']);
    expect(await world.job()).toBeUndefined();
  };

  test.each(['Preparing', 'Copying', 'Following', 'StoppingWrites', 'Finishing', 'Switching'] as const)(
    'leaves everything as it was when it is canceled in %s',
    async (phase) => {
      const world = await moving();
      await world.until(phase);
      await world.moveTo('default');
      expect((await world.migrate()).phase).toBe('Cancelled');
      await world.settle();
      await asBefore(world);
      expect(await world.condition('Migrating')).toContain('False Cancelled');
    },
  );

  test('continues above the revisions that clients have seen in the other datastore', async () => {
    const world = await moving();
    await world.until('Switching');
    world.target.dataOf(only(world.target)).revision = 1_000_000n;
    const source = world.store.dataOf(only(world.store));
    await world.moveTo('default');
    expect((await world.migrate()).phase).toBe('Cancelled');
    expect(source.revision).toBeGreaterThan(1_000_000n);
  });

  test('reports why the process failed, and waits for a person', async () => {
    const world = await moving();
    await world.until('Copying');
    await world.say({ failure: 'the target is not empty' });
    expect((await world.migrate()).phase).toBe('Failed');
    await world.settle();
    await asBefore(world);
    expect(await world.condition('Migrating')).toContain('False Failed: the target is not empty');
    expect(world.events.join('\n')).toContain('MigrationFailed');
    await world.clock.advance(3_600_000);
    await world.settle();
    expect((await world.record()).phase).toBe('Failed');
    await world.change({ metadata: { annotations: { [annotations.retryMigration]: '1' } } });
    expect((await world.migrate()).phase).toBe('Succeeded');
  });

  test('does not remove the copy while pods that use it have not stopped', async () => {
    const world = await moving();
    world.podsStop = false;
    await world.until('Switching');
    await world.finishPods();
    await world.moveTo('default');
    for (let turn = 0; turn < 10; turn += 1) {
      await world.reconcile();
      await world.work();
    }
    expect(await migrationPhase(world)).toBe('RollingBack');
    expect(world.target.tenancies.size).toBe(1);
    world.podsStop = true;
    await world.finishPods();
    expect((await world.migrate()).phase).toBe('Cancelled');
    await world.settle();
    await asBefore(world);
  });

  test('is rolled back if the pods do not become ready on the target', async () => {
    const world = await moving();
    await world.until('Switching');
    world.podsStart = false;
    await world.reconcile();
    await world.reportPods({ replicas: 4, updatedReplicas: 2, readyReplicas: 2, unavailableReplicas: 2 });
    await world.reconcile();
    expect(await world.frozen()).toBe(true);
    await world.clock.advance(200_000);
    await world.reconcile();
    world.podsStart = true;
    expect((await world.migrate()).phase).toBe('Failed');
    await world.settle();
    await asBefore(world);
    expect(await world.condition('Migrating')).toContain('the pods did not become ready on DataStore other in time');
  });

  test('is rolled back if its Job is removed, and if not every API server denies writes in time', async () => {
    const removed = await moving();
    await removed.until('Finishing');
    const { namespace = '', name = '' } = (await removed.job())?.metadata ?? {};
    await removed.cluster.admin.delete(kinds.Job, { namespace, name });
    expect((await removed.migrate()).phase).toBe('Failed');
    await asBefore(removed);

    const deaf = await moving();
    await deaf.until('StoppingWrites');
    deaf.deafServers = true;
    const reconciling = deaf.reconcile();
    await deaf.clock.advance(61_000);
    await reconciling;
    await deaf.reconcile();
    deaf.deafServers = false;
    expect((await deaf.migrate()).phase).toBe('Failed');
    await asBefore(deaf);
  });

  test('is given up if its Job never begins, with the state of its pods', async () => {
    const world = await moving();
    for (let reconciles = 0; reconciles < 3; reconciles += 1) await world.reconcile();
    const { metadata } = (await world.job()) ?? {};
    await world.cluster.seed(kinds.Pod, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'migrate-x', namespace: 'steward-system', labels: { 'job-name': metadata?.name ?? '' } },
      status: {
        containerStatuses: [{ name: 'migrate', ready: false, state: { waiting: { reason: 'ErrImagePull' } } }],
      },
    });
    await world.clock.advance(20_000);
    await world.reconcile();
    expect(await message(world)).toContain('the Job is starting: container migrate of pod migrate-x: ErrImagePull');
    await world.change({ metadata: { annotations: { [annotations.migrationTimeout]: '5m' } } });
    await world.clock.advance(6 * 60_000);
    await world.reconcile();
    await world.cluster.admin.delete(kinds.Pod, { namespace: 'steward-system', name: 'migrate-x' });
    expect((await world.migrate()).phase).toBe('Failed');
    expect(await message(world)).toContain('it took longer than 300 s');
    await asBefore(world);
  });

  test.each([
    [
      { deployment: { extraArgs: { apiServer: ['--encryption-provider-config=/x'] } } },
      'cannot change while kube-apiserver has --encryption-provider-config',
    ],
    [
      { spec: { dataStore: 'default', dataStoreOverrides: [{ resource: '/events', dataStore: 'default' }] } },
      'cannot change while spec.dataStoreOverrides stores some resource types elsewhere',
    ],
  ])('does not begin if it is impossible: %j', async (changes, message) => {
    const world = new MigrationWorld();
    await world.running(changes);
    await world.moveTo('other');
    expect((await world.migrate()).phase).toBe('Failed');
    expect(await world.condition('Migrating')).toContain(message);
    expect(world.target.calls).not.toContain('ensure');
  });

  test('waits while the target cannot be reached, without an effect on the tenant', async () => {
    const world = await moving();
    world.target.failure = new StoreError('Unreachable', 'other:1: no answer');
    await world.reconcile();
    await world.reconcile();
    const end = await world.reconcile();
    expect(end.error).toBeDefined();
    expect(await world.condition('Migrating')).toBe('True');
    expect(await world.state()).toBe('Ready');
    world.target.failure = undefined;
    world.restart();
    expect((await world.migrate()).phase).toBe('Succeeded');
  });
});
