import { describe, expect, test } from '@jest/globals';
import { stewardControlPlane } from '../api/controlplane/steward-control-plane.ts';
import { kinds } from '../api/core/kinds.ts';
import { annotations } from '../api/names.ts';
import { retainedControlPlane } from '../api/steward/v1alpha1/retained-control-plane.ts';
import { tenantControlPlane } from '../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenantsWithData } from './tenants-with-data.ts';
import { holdersOf, usersOf } from '../controllers/datastore/status.ts';
import { StoreError } from '../stores/store-error.ts';
import { versionOfPods } from '../controllers/tenantcontrolplane/upgrade/version-of-pods.ts';
import type { Resource } from '../api/meta.ts';
import { ApiError } from '../runtime/client/errors.ts';
import { ReleaseWorld, access, key, recordKey } from '../testing/worlds/release-world.ts';
import { MigrationWorld } from '../testing/worlds/migration-world.ts';
import { crashPoints } from '../testing/worlds/crash-points.ts';

/** What workers and users rely on. */
interface Relied {
  readonly secrets: readonly unknown[];
  readonly endpoint: string | undefined;
  readonly setup: string | undefined;
  readonly user: string | undefined;
  readonly tenancies: readonly object[];
}

async function relied(world: ReleaseWorld): Promise<Relied> {
  const { tenant } = world;
  const secrets = await Promise.all(
    ['ca', 'front-proxy-ca-certificate', 'sa-certificate'].map(async (name) => (await tenant.secret(name))?.data),
  );
  const { status } = await tenant.read();
  return {
    secrets,
    endpoint: status?.controlPlaneEndpoint,
    setup: status?.storage?.setup?.schema,
    user: status?.storage?.setup?.user,
    tenancies: [...tenant.store.tenancies.values()].map(({ schema, user, owner }) => ({ schema, user, owner })),
  };
}

/** Does something right after the StewardControlPlane has applied the next TenantControlPlane. */
function onceCreated({ tenant: { cluster } }: ReleaseWorld, action: () => Promise<void>): void {
  const stop = cluster.after(async ({ kind, verb }) => {
    if (kind?.kind !== tenantControlPlane.kind || verb !== 'apply') return;
    stop();
    await action();
  });
}

describe('A TenantControlPlane that is deleted while its StewardControlPlane stays', () => {
  test('is recreated with the same data, CAs and address', async () => {
    const world = await ReleaseWorld.create();
    const { metadata } = await world.tenant.read();
    const before = await relied(world);
    expect(await world.tenant.condition('Ready')).toBe('True');
    await world.deleteAlone();
    await world.settle();
    const successor = await world.tenant.read();
    expect(successor.metadata.uid).not.toBe(metadata.uid);
    expect(successor.status?.storage?.owner).toBe(metadata.uid);
    expect(await relied(world)).toEqual(before);
    expect(await world.tenant.condition('Ready')).toBe('True');
    expect(await world.record()).toBeUndefined();
  });

  test('is recreated each time that it is deleted', async () => {
    const world = await ReleaseWorld.create();
    const { metadata } = await world.tenant.read();
    const before = await relied(world);
    for (let times = 0; times < 3; times += 1) {
      await world.deleteAlone();
      await world.settle();
    }
    expect((await world.tenant.read()).status?.storage?.owner).toBe(metadata.uid);
    expect(await relied(world)).toEqual(before);
    await world.tenant.cluster.admin.delete(stewardControlPlane, key);
    await world.settle();
    expect(world.tenant.store.tenancies.size).toBe(0);
    expect(await world.writes()).toBe('\ngone');
  });

  test('leaves nothing behind if its StewardControlPlane is deleted at any later moment', async () => {
    const model = await ReleaseWorld.create();
    await model.deleteAlone();
    const steps = await roundsOf(model);
    for (const rounds of [0, ...crashPoints(steps, 'rounds of a hand-over')]) {
      const world = await ReleaseWorld.create();
      await world.deleteAlone();
      for (let done = 0; done < rounds; done += 1) await world.round();
      await world.tenant.cluster.admin.delete(stewardControlPlane, key);
      await world.settle();
      expect({ rounds, left: await world.writes() }).toEqual({ rounds, left: '\ngone' });
      expect({ rounds, tenancies: world.tenant.store.tenancies.size }).toEqual({ rounds, tenancies: 0 });
    }
  }, 300_000);

  test('is recreated with the same data although the process dies after any call', async () => {
    const model = await ReleaseWorld.create();
    await model.deleteAlone();
    const before = model.tenant.cluster.calls.length;
    await model.settle();
    const total = model.tenant.cluster.calls.length - before;
    // Not after each: that takes minutes.
    const thirds = Array.from({ length: Math.ceil(total / 3) }, (_, at) => at * 3 + 1);
    for (const calls of crashPoints(thirds, 'hand-over')) {
      const world = await ReleaseWorld.create();
      const expected = await relied(world);
      await world.deleteAlone();
      world.tenant.cluster.crashAfter(calls, { losesAnswer: true });
      await world.untilDeath();
      world.restart();
      await world.settle();
      expect({ calls, relied: await relied(world) }).toEqual({ calls, relied: expected });
      expect({ calls, ready: await world.tenant.condition('Ready') }).toEqual({ calls, ready: 'True' });
      expect(await world.record()).toBeUndefined();
    }
  }, 600_000);

  test('retains CAs and address if the recreated one is deleted between adopting them and reporting that', async () => {
    const world = await ReleaseWorld.create();
    const { cluster } = world.tenant;
    const before = await relied(world);
    const service = (await cluster.admin.get(kinds.Service, key))?.metadata.uid;
    await world.deleteAlone();
    await untilGone(world);
    const recover = cluster.before(({ kind, verb, subresource }) => {
      const tells = kind?.kind === 'TenantControlPlane' && verb === 'patch' && subresource === 'status';
      return tells ? Promise.reject(new ApiError(500, 'InternalError', 'not now')) : Promise.resolve();
    });
    for (let rounds = 0; rounds < 6; rounds += 1) await world.round();
    const successor = await world.tenant.read();
    const owners = (await cluster.admin.get(kinds.Service, key))?.metadata.ownerReferences;
    expect(owners?.map(({ uid }) => uid)).toEqual([successor.metadata.uid]);
    expect(successor.status?.storage?.setup).toBeUndefined();
    await world.deleteAlone();
    for (let rounds = 0; rounds < 3; rounds += 1) await world.tenant.reconcile();
    expect(await world.tenant.exists()).toBe(false);
    recover();
    await world.settle();
    expect(await relied(world)).toEqual(before);
    expect((await cluster.admin.get(kinds.Service, key))?.metadata.uid).toBe(service);
  });

  test('does not delete the recreated one because of a stale cache', async () => {
    const world = await ReleaseWorld.create();
    await world.deleteAlone();
    await untilGone(world);
    const old = await world.retainer();
    await world.reconcileRetainer();
    const { uid } = (await world.tenant.read()).metadata;
    expect((await world.record())?.spec.adopterUID).toBe(uid);
    await world.reconcileRetainer(old);
    const { metadata } = await world.tenant.read();
    expect([metadata.uid, metadata.deletionTimestamp]).toEqual([uid, undefined]);
  });

  test('is not created twice when the status of the record is written at the same time', async () => {
    const world = await ReleaseWorld.create();
    const { cluster } = world.tenant;
    await world.deleteAlone();
    await untilGone(world);
    onceCreated(world, async () => {
      const patch = { type: 'merge', body: { status: { observedGeneration: 7 } } } as const;
      await cluster.admin.patch(retainedControlPlane, recordKey, patch, { subresource: 'status' });
    });
    await world.reconcileRetainer();
    expect((await world.record())?.spec.adopterUID).toBe((await world.tenant.read()).metadata.uid);
  });

  test('is not named as the adopter once the record is being deleted', async () => {
    const world = await ReleaseWorld.create();
    const { cluster } = world.tenant;
    await world.deleteAlone();
    await untilGone(world);
    onceCreated(world, async () => {
      await cluster.admin.delete(retainedControlPlane, recordKey);
    });
    await world.reconcileRetainer();
    expect((await world.record())?.spec.adopterUID).toBeUndefined();
    await world.settle();
    expect(await world.tenant.condition('Ready')).toBe('True');
    expect((await world.tenant.read()).status?.storage?.owner).toBeUndefined();
    expect(world.tenant.store.tenancies.size).toBe(1);
  });

  test('keeps the retained record if the recreated one has data of its own', async () => {
    const world = await ReleaseWorld.create();
    await world.deleteAlone();
    await untilGone(world);
    await world.reconcileRetainer();
    const storage = { owner: 'another', setup: { schema: 'x' } };
    const patch = { type: 'merge', body: { status: { storage } } } as const;
    await world.tenant.cluster.admin.patch(tenantControlPlane, key, patch, { subresource: 'status' });
    await world.reconcileRetainer();
    const { status } = (await world.retainer()) ?? {};
    expect(await world.record()).toBeDefined();
    expect(status?.conditions?.map(({ reason }) => reason)).toContain('OwnedByAnother');
  });

  test('is adopted by no TenantControlPlane that a user created under its name', async () => {
    const world = await ReleaseWorld.create();
    const before = await relied(world);
    const victim = await world.tenant.read();
    await world.deleteAlone();
    await untilGone(world);
    expect(await world.record()).toBeDefined();
    const { name, namespace, ownerReferences, labels } = victim.metadata;
    const metadata = { name: name, namespace, ownerReferences, labels } as typeof victim.metadata;
    const forged = await world.tenant.cluster.seed(tenantControlPlane, {
      apiVersion: victim.apiVersion,
      kind: victim.kind,
      metadata,
      spec: victim.spec,
    });
    for (let reconciles = 0; reconciles < 3; reconciles += 1) await world.tenant.reconcile();
    expect((await world.tenant.read()).status?.storage).toBeUndefined();
    expect(await world.tenant.condition('StoreReady')).toContain('AdoptingData');
    expect(await world.tenant.secret('datastore-certificate')).toBeUndefined();
    await world.settle();
    expect((await world.tenant.read()).metadata.uid).not.toBe(forged.metadata.uid);
    expect(await relied(world)).toEqual(before);
  });
});

async function roundsOf(world: ReleaseWorld): Promise<number> {
  for (let rounds = 0; ; rounds += 1) {
    const before = await world.writes();
    await world.round();
    if ((await world.writes()) === before) return rounds;
  }
}

describe('What is retained of a deleted TenantControlPlane', () => {
  test('stays while its StewardControlPlane is paused, and is adopted afterwards', async () => {
    const world = await ReleaseWorld.create();
    const before = await relied(world);
    await world.deleteAlone();
    await untilGone(world);
    await pause(world, '');
    for (let rounds = 0; rounds < 5; rounds += 1) await world.round();
    expect(await world.tenant.exists()).toBe(false);
    expect(world.tenant.store.tenancies.size).toBe(1);
    await pause(world, null);
    await world.settle();
    expect(await relied(world)).toEqual(before);
  });

  test('includes the Service that workers connect to, which is not recreated', async () => {
    const world = await ReleaseWorld.create();
    const { cluster } = world.tenant;
    const before = await cluster.admin.get(kinds.Service, key);
    await world.deleteAlone();
    await world.settle();
    const after = await cluster.admin.get(kinds.Service, key);
    expect(after?.metadata.uid).toBe(before?.metadata.uid);
    const { uid } = (await world.tenant.read()).metadata;
    expect(after?.metadata.ownerReferences?.map((reference) => reference.uid)).toEqual([uid]);
  });

  test('includes no CAs after a foreground deletion that bypassed admission: no other CA is created, and a condition says so', async () => {
    const world = await ReleaseWorld.create();
    const [tenancy] = world.tenant.store.tenancies.keys();
    await world.deleteAlone('Foreground');
    await world.settle();
    expect([...world.tenant.store.tenancies.keys()]).toEqual([tenancy]);
    expect(await world.tenant.condition('CertificatesReady')).toMatch(
      /SecretBroken.*is missing.*restore it from a backup/,
    );
  });

  test('includes the version that was reached: a held upgrade is still held', async () => {
    const world = await ReleaseWorld.create({ version: '1.35.4' });
    world.tenant.kubelets = ['v1.31.0'];
    await world.change({ spec: { version: '1.36.3' } });
    await world.settle();
    expect(await world.tenant.condition('UpgradeAllowed')).toContain('False');
    await world.deleteAlone();
    await world.settle();
    expect((await world.tenant.read()).status?.kubernetesResources?.version?.version).toBe('v1.35.4');
    expect(versionOfPods(await world.tenant.deployment())).toBe('v1.35.4');
    expect(await world.tenant.condition('UpgradeAllowed')).toContain('False');
  });

  test('counts as data of its DataStores', async () => {
    const world = await ReleaseWorld.create();
    await world.deleteAlone();
    await untilGone(world);
    const all = await tenantsWithData(world.tenant.cluster.admin, new AbortController().signal);
    expect(usersOf('default', { ...all, defaultDataStore: '' })).toEqual(['default/tenant']);
    expect(holdersOf('default', all, '')).toEqual({ usedBy: [], retained: ['default.tenant'], unknown: [] });
  });

  test('is removed only once the datastore answers, and the StewardControlPlane reports what it waits for', async () => {
    const world = await ReleaseWorld.create();
    await world.deleteAlone();
    await untilGone(world);
    world.tenant.store.failure = new StoreError('Unreachable', 'connection refused');
    await world.tenant.cluster.admin.delete(stewardControlPlane, key);
    await world.settle();
    const waiting = (await world.retainer())?.status?.conditions?.find(({ type }) => type === 'Deleting');
    expect(waiting?.message).toContain('connection refused');
    world.tenant.store.failure = undefined;
    world.restart();
    await world.settle();
    expect(await world.writes()).toBe('\ngone');
    expect(world.tenant.store.tenancies.size).toBe(0);
  });

  test('is removed only once RBAC allows it, and the StewardControlPlane reports what is forbidden', async () => {
    const world = await ReleaseWorld.create();
    const { cluster, store, clock } = world.tenant;
    await world.deleteAlone();
    await untilGone(world);
    const allow = cluster.before(({ kind, verb }) => {
      if (kind?.kind === 'DataStore' && verb === 'get') throw new ApiError(403, 'Forbidden', 'may not get datastores');
    });
    await cluster.admin.delete(stewardControlPlane, key);
    await world.settle();
    const waiting = (await world.retainer())?.status;
    expect(waiting?.conditions?.find(({ type }) => type === 'Deleting')?.message).toContain('may not get datastores');
    expect(await world.record()).toBeDefined();
    expect(store.tenancies.size).toBe(1);
    allow();
    await clock.advance(2_000);
    await world.settle();
    expect(await world.writes()).toBe('\ngone');
    expect(store.tenancies.size).toBe(0);
  });

  test.each(['written', 'removed'])('stays in place while the retained record may not be %s', async (what) => {
    const world = await ReleaseWorld.create();
    const { cluster } = world.tenant;
    const before = await relied(world);
    const allow = cluster.before(({ kind, verb }) => {
      const isMeant = verb === (what === 'removed' ? 'delete' : 'create');
      if (kind?.kind === retainedControlPlane.kind && isMeant) throw new ApiError(403, 'Forbidden', 'may not');
    });
    await world.deleteAlone();
    for (let rounds = 0; rounds < 20; rounds += 1) await world.round();
    const { metadata, status } = await world.tenant.read();
    expect(status?.storage?.setup?.schema).toBe(before.setup);
    expect(metadata.deletionTimestamp === undefined).toBe(what === 'removed');
    expect((await world.record()) === undefined).toBe(what === 'written');
    allow();
    await world.settle();
    expect(await relied(world)).toEqual(before);
    expect(await world.record()).toBeUndefined();
  });

  test.each(['{', '[]', '{"spec":{}}', '{"spec":7,"status":{"storage":"x"}}'])(
    'is not derived from a record that Steward has not written (%s)',
    async (record) => {
      const world = await ReleaseWorld.create();
      const { cluster, store } = world.tenant;
      await world.deleteAlone();
      await untilGone(world);
      await cluster.admin.patch(retainedControlPlane, recordKey, { type: 'merge', body: { spec: { record } } });
      await world.settle();
      expect(await world.tenant.exists()).toBe(false);
      const conditions = async () => JSON.stringify((await world.retainer())?.status?.conditions);
      expect(await conditions()).toContain('RecordUnreadable');
      const found = await tenantsWithData(cluster.admin, new AbortController().signal);
      const unknown = [expect.stringContaining('RetainedControlPlane default.tenant')];
      expect(found).toEqual({ tenants: [], retained: [], unknown });
      await cluster.admin.delete(stewardControlPlane, key);
      await world.settle();
      expect(await conditions()).toContain('the retained data cannot be removed');
      await world.change({ metadata: { annotations: { [annotations.abandonData]: 'true' } } });
      await world.settle();
      expect(await world.retainer()).toBeUndefined();
      expect(store.tenancies.size).toBe(1);
      expect(world.events).toContainEqual(expect.stringMatching(/^DataAbandoned: the retained data is left/));
    },
  );

  test.each([
    ['is nothing', 404, []],
    ['is not known', 403, [expect.stringContaining('cannot be listed')]],
  ])('%s if the list of RetainedControlPlanes is answered with %i', async (_what, code, unknown) => {
    const world = await ReleaseWorld.create();
    const { cluster } = world.tenant;
    cluster.before(({ kind, verb }) => {
      if (kind?.kind === retainedControlPlane.kind && verb === 'list') throw new ApiError(code, 'No', 'no');
    });
    const found = await tenantsWithData(cluster, new AbortController().signal);
    expect(found.unknown).toEqual(unknown);
    expect(found.tenants).toHaveLength(1);
  });

  test('is nothing if the data is abandoned by annotation', async () => {
    const world = await ReleaseWorld.create();
    await world.tenant.change({ metadata: { annotations: { [annotations.abandonData]: 'true' } } });
    const former = (await world.tenant.read()).metadata.uid;
    await world.deleteAlone();
    await world.settle();
    const { storage } = (await world.tenant.read()).status ?? {};
    expect(storage?.owner).toBeUndefined();
    expect([...world.tenant.store.tenancies.values()].map(({ owner }) => owner)).toContain(former);
    expect(world.tenant.store.tenancies.size).toBe(2);
  });
});

describe('A TenantControlPlane that is deleted during a migration or with overrides', () => {
  test.each(['Preparing', 'Copying', 'Finishing', 'Switching', 'ResumingWrites', 'Revoking', 'RollingBack'] as const)(
    'is recreated, and the migration that was in phase %s succeeds',
    async (phase) => {
      const world = await ReleaseWorld.in({ tenant: new MigrationWorld({ beside: access }) });
      const { tenant } = world;
      const before = await relied(world);
      const { uid } = (await tenant.read()).metadata;
      await world.change({ spec: { dataStoreName: 'other' } });
      await world.reconcileRetainer();
      if (phase === 'RollingBack') {
        await tenant.until('Copying');
        await tenant.say({ failure: 'no' });
        await tenant.reconcile();
      } else await tenant.until(phase);
      await world.deleteAlone();
      let moved = false;
      for (let turn = 0; turn < 120 && !moved; turn += 1) {
        await world.round();
        await tenant.finishPods();
        if (!(await tenant.exists())) continue;
        await tenant.work();
        await tenant.clock.advance(200);
        const found = await tenant.read();
        const { storage } = found.status ?? {};
        moved =
          found.metadata.uid !== uid &&
          storage?.migration?.phase === 'Succeeded' &&
          storage.dataStoreName === 'other' &&
          (await tenant.condition('Ready')) === 'True';
      }
      expect({ moved, record: (await tenant.read()).status?.storage }).toMatchObject({ moved: true });
      expect(await tenant.frozen()).toBe(false);
      expect([...tenant.target.tenancies.values()].map(({ owner }) => owner)).toEqual([uid]);
      const after = await relied(world);
      expect(after).toMatchObject({ secrets: before.secrets, endpoint: before.endpoint });
      await tenant.cluster.admin.delete(stewardControlPlane, key);
      for (let turn = 0; turn < 20; turn += 1) {
        await world.round();
        await tenant.finishPods();
      }
      expect([...tenant.store.tenancies.keys(), ...tenant.target.tenancies.keys()]).toEqual([]);
      expect(await world.retainer()).toBeUndefined();
    },
    120_000,
  );

  test('is recreated with the data of its overrides, and leaves nothing behind in the end', async () => {
    const world = await ReleaseWorld.create();
    const { tenant } = world;
    const events = await tenant.addStoreBeside('events');
    await world.change({ spec: { dataStoreOverrides: [{ resource: '/events', dataStore: 'events' }] } });
    await world.settle();
    expect(await tenant.condition('Ready')).toBe('True');
    expect(events.tenancies.size).toBe(1);
    const before = (await tenant.read()).status?.storage?.overrides;
    expect(before).toHaveLength(1);
    await world.deleteAlone();
    await world.settle();
    const { spec, status } = await tenant.read();
    expect(spec.dataStoreOverrides).toEqual([{ resource: '/events', dataStore: 'events' }]);
    expect(status?.storage?.overrides).toEqual(before);
    expect(await tenant.condition('Ready')).toBe('True');
    await world.change({ spec: { dataStoreOverrides: null } });
    await world.settle();
    expect((await tenant.read()).status?.storage?.overrides).toBeUndefined();
    expect(events.tenancies.size).toBe(0);
    await tenant.cluster.admin.delete(stewardControlPlane, key);
    await world.settle();
    expect([...tenant.store.tenancies.keys(), ...events.tenancies.keys()]).toEqual([]);
  });
});

describe('A namespace that is deleted', () => {
  test.each(['TenantControlPlane', 'StewardControlPlane'])(
    'leaves no data behind if its %s is deleted first',
    async (first) => {
      const world = await ReleaseWorld.create();
      const { cluster } = world.tenant;
      cluster.before(async ({ kind, verb, name = '' }) => {
        if (kind === undefined || (verb !== 'create' && verb !== 'apply')) return;
        const at = { namespace: key.namespace, name };
        if ((await cluster.admin.get(kind, at)) !== undefined) return;
        throw new ApiError(
          403,
          'Forbidden',
          'unable to create new content in namespace default because it is being terminated',
        );
      });
      const both = [tenantControlPlane, stewardControlPlane];
      const order = first === 'StewardControlPlane' ? both.reverse() : both;
      for (const kind of [kinds.Secret, kinds.Service, kinds.ConfigMap, kinds.Deployment]) {
        const { items } = await cluster.admin.list<Resource>(kind, { namespace: 'default' });
        for (const { metadata } of items) await cluster.admin.delete(kind, { ...key, name: metadata.name });
      }
      for (const kind of order) {
        await cluster.admin.delete(kind, key);
        for (let rounds = 0; rounds < 6; rounds += 1) await world.round();
      }
      await world.settle();
      expect(await world.writes()).toBe('\ngone');
      expect(world.tenant.store.tenancies.size).toBe(0);
    },
  );
});

const pause = (world: ReleaseWorld, value: '' | null): Promise<void> =>
  world.change({ metadata: { annotations: { 'cluster.x-k8s.io/paused': value } } });

async function untilGone(world: ReleaseWorld): Promise<void> {
  for (let rounds = 0; rounds < 20 && (await world.tenant.exists()); rounds += 1) await world.round();
  expect(await world.tenant.exists()).toBe(false);
}
