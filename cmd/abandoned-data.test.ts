import { describe, expect, test } from '@jest/globals';
import { stewardControlPlane } from '../api/controlplane/steward-control-plane.ts';
import { kinds } from '../api/core/kinds.ts';
import type { Resource } from '../api/meta.ts';
import { annotations } from '../api/names.ts';
import { ApiError } from '../runtime/client/errors.ts';
import { crashPoints } from '../testing/worlds/crash-points.ts';
import { ReleaseWorld, key } from '../testing/worlds/release-world.ts';

/** Says on the TenantControlPlane that its data is to be left behind. */
const abandon = (world: ReleaseWorld): Promise<void> =>
  world.tenant.change({ metadata: { annotations: { [annotations.abandonData]: 'true' } } });

const owners = (world: ReleaseWorld): readonly (string | undefined)[] =>
  [...world.tenant.store.tenancies.values()].map(({ owner }) => owner);

const uidOf = async (world: ReleaseWorld): Promise<string | undefined> =>
  (await world.tenant.exists()) ? (await world.tenant.read()).metadata.uid : undefined;

/** Objects whose owners do not exist, which would never be deleted. */
async function orphans(world: ReleaseWorld): Promise<readonly string[]> {
  const { admin } = world.tenant.cluster;
  const alive = new Set([await uidOf(world), (await world.retainer())?.metadata.uid]);
  const found = await Promise.all(
    [kinds.Secret, kinds.Service, kinds.ConfigMap].map((kind) => admin.list<Resource>(kind, key)),
  );
  return found
    .flatMap(({ items }) => items)
    .filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => !alive.has(uid)) === true)
    .map(({ metadata }) => metadata.name);
}

/** Expects a control plane with its own empty data, and the data of `former`, which is no longer retained. */
async function expectNew(world: ReleaseWorld, former: string | undefined): Promise<void> {
  const { tenant } = world;
  const { metadata, status } = await tenant.read();
  expect(metadata.uid).not.toBe(former);
  expect(status?.storage?.owner).toBeUndefined();
  expect(owners(world)).toEqual([former, metadata.uid]);
  expect(await world.record()).toBeUndefined();
  expect(await tenant.condition('Ready')).toBe('True');
  const service = await tenant.cluster.admin.get(kinds.Service, key);
  expect(service?.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual([metadata.uid]);
  expect(await orphans(world)).toEqual([]);
}

/** Refuses the removal of the finalizer: the process has released everything by then, and is not done. */
function holdFinalizer(world: ReleaseWorld): () => void {
  return world.tenant.cluster.before(({ kind, verb, subresource }) => {
    const isMeant = kind?.kind === 'TenantControlPlane' && verb === 'patch' && subresource === undefined;
    return isMeant ? Promise.reject(new ApiError(500, 'InternalError', 'not now')) : Promise.resolve();
  });
}

/** The retained record exists, and nothing has been released yet. */
async function untilOnRecord(world: ReleaseWorld): Promise<void> {
  const recover = world.tenant.cluster.before(({ kind, verb }) => {
    const isMeant = verb === 'patch' && (kind?.kind === 'Service' || kind?.kind === 'Secret');
    return isMeant ? Promise.reject(new ApiError(500, 'InternalError', 'not now')) : Promise.resolve();
  });
  await world.deleteAlone();
  for (let rounds = 0; rounds < 20 && (await world.record()) === undefined; rounds += 1) await world.round();
  expect(await world.record()).toBeDefined();
  expect(await world.tenant.exists()).toBe(true);
  recover();
}

/** A successor that has recorded the adopted data in its status, which its StewardControlPlane has not seen yet. */
async function untilSuccessorAdopts(world: ReleaseWorld): Promise<string | undefined> {
  const former = await uidOf(world);
  await world.deleteAlone();
  for (let rounds = 0; rounds < 20; rounds += 1) {
    await world.round();
    if ((await uidOf(world)) === former || !(await world.tenant.exists())) continue;
    if ((await world.tenant.read()).status?.storage?.setup?.schema !== undefined) return former;
  }
  throw new Error('nothing was taken over');
}

/** The number of calls of a TenantControlPlane that is deleted alone, without the last one, which ends it. */
async function callsUntilGone(): Promise<number> {
  const world = await ReleaseWorld.create();
  await world.deleteAlone();
  const before = world.tenant.cluster.calls.length;
  while (await world.tenant.exists()) await world.tenant.reconcile();
  return world.tenant.cluster.calls.length - before - 1;
}

describe('A TenantControlPlane that is deleted while its StewardControlPlane stays, with the annotation that abandons its data', () => {
  test('leaves its data behind at any moment before it is gone, and is recreated with empty data', async () => {
    const total = await callsUntilGone();
    for (const calls of crashPoints(total, 'abandoned')) {
      const world = await ReleaseWorld.create();
      const former = await uidOf(world);
      await world.deleteAlone();
      world.tenant.cluster.crashAfter(calls, { losesAnswer: true });
      while (!world.tenant.cluster.crashed) await world.tenant.reconcile();
      world.restart();
      expect({ calls, uid: await uidOf(world) }).toEqual({ calls, uid: former });
      await abandon(world);
      await world.settle();
      await expectNew(world, former);
    }
  }, 300_000);

  test('takes its CAs and its Service back from the StewardControlPlane, so that they are deleted with it', async () => {
    const world = await ReleaseWorld.create();
    const former = await uidOf(world);
    const ca = (await world.tenant.secret('ca'))?.data;
    await world.deleteAlone();
    const recover = holdFinalizer(world);
    for (let rounds = 0; rounds < 8; rounds += 1) await world.round();
    const record = (await world.record())?.metadata.uid;
    expect((await world.tenant.secret('ca'))?.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual([record]);
    await abandon(world);
    recover();
    await world.settle();
    await expectNew(world, former);
    expect((await world.tenant.secret('ca'))?.data).not.toEqual(ca);
  });

  test('clears the retained record if it was recreated from it and the record still exists', async () => {
    const world = await ReleaseWorld.create();
    const former = await untilSuccessorAdopts(world);
    expect(await world.record()).toBeDefined();
    await abandon(world);
    await world.deleteAlone();
    await world.tenant.reconcile();
    await world.settle();
    await expectNew(world, former);
  });

  test.each(['on record', 'passed on'])(
    'leaves its data behind although it is already %s when its StewardControlPlane is deleted',
    async (at) => {
      const world = await ReleaseWorld.create();
      const former = await uidOf(world);
      await untilOnRecord(world);
      const recover = at === 'passed on' ? holdFinalizer(world) : () => undefined;
      if (at === 'passed on') await world.tenant.reconcile();
      await abandon(world);
      await world.tenant.cluster.admin.delete(stewardControlPlane, key);
      recover();
      await world.settle();
      expect(await world.writes()).toBe('\ngone');
      expect(owners(world)).toEqual([former]);
    },
  );

  test('is recreated with its data if the annotation is removed in time', async () => {
    const world = await ReleaseWorld.create();
    const former = await uidOf(world);
    await untilOnRecord(world);
    await abandon(world);
    await world.tenant.reconcile();
    await world.tenant.change({ metadata: { annotations: { [annotations.abandonData]: null } } });
    await world.settle();
    expect((await world.tenant.read()).status?.storage?.owner).toBe(former);
    expect(owners(world)).toEqual([former]);
    expect(await world.tenant.condition('Ready')).toBe('True');
  });

  test('reports that it waits for the retained record to be deleted', async () => {
    const world = await ReleaseWorld.create();
    await untilOnRecord(world);
    await abandon(world);
    for (let reconciles = 0; reconciles < 3; reconciles += 1) await world.tenant.reconcile();
    const deleting = (await world.tenant.read()).status?.conditions?.find(({ type }) => type === 'Deleting');
    expect(deleting?.reason).toBe('ReleasingData');
    expect(deleting?.message).toMatch(/waiting for RetainedControlPlane default\.tenant .*annotation/);
  });
});
