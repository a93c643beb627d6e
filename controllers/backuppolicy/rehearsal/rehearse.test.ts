import { beforeEach, describe, expect, test } from '@jest/globals';
import { backupPolicy } from '../../../api/steward/v1alpha1/backup/backup-policy.ts';
import { tenantRestore } from '../../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { TenantRestore } from '../../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { BackupKindsWorld, reportOf } from '../../../testing/worlds/backup-kinds-world.ts';
import { crashPoints } from '../../../testing/worlds/crash-points.ts';

const name = 'hourly-rehearsal';
const key = { namespace: 'tenants', name };
let world: BackupKindsWorld;

const trial = (): Promise<TenantControlPlane | undefined> => world.cluster.admin.get(tenantControlPlane, key);
const restore = (): Promise<TenantRestore | undefined> => world.cluster.admin.get(tenantRestore, key);
const rehearsed = (): Promise<string | undefined> => world.condition(backupPolicy, 'hourly', 'Rehearsed');
const message = async (): Promise<string | undefined> => {
  const { conditions } = (await world.read(backupPolicy, 'hourly')).status ?? {};
  return conditions?.find(({ type }) => type === 'Rehearsed')?.message;
};
const change = (rehearsal: object | null): Promise<unknown> =>
  world.cluster.admin.patch(backupPolicy, { ...key, name: 'hourly' }, { type: 'merge', body: { spec: { rehearsal } } });

/** A policy with two backups that rehearses once a day. */
async function begin(rehearsal: object = { interval: '24h' }): Promise<void> {
  world = new BackupKindsWorld();
  await world.key();
  await world.tenant();
  await world.policy({ rehearsal });
  await world.report(backupPolicy, 'hourly', reportOf(2));
  await world.clock.advance(3_601_000);
  await world.settle();
}

/** The process of the restore ends. */
async function ends(type: 'Complete' | 'Failed' = 'Complete'): Promise<void> {
  const now = await world.read(tenantRestore, name);
  if (type === 'Complete') {
    const restoredTime = '2030-01-01T01:00:30.000Z';
    await world.report(tenantRestore, name, { step: 'Restored', restoredTime, keys: 3, bytes: 300 });
  } else await world.report(tenantRestore, name, { step: 'Restoring', problem: 'chunk 7 is damaged' });
  await world.clock.advance(30_000);
  await world.jobEnds('restore', now, type);
}

beforeEach(() => begin());

describe('A rehearsal', () => {
  test('restores the last known moment into a control plane without pods, in the same DataStore', async () => {
    expect((await trial())?.spec).toMatchObject({
      controlPlane: { deployment: { replicas: 0 }, service: { serviceType: 'ClusterIP' } },
      kubernetes: { version: (await world.read(tenantControlPlane, 'shop')).spec.kubernetes.version },
    });
    const policy = await world.read(backupPolicy, 'hourly');
    const owned = expect.arrayContaining([expect.objectContaining({ uid: policy.metadata.uid, kind: 'BackupPolicy' })]);
    expect((await trial())?.metadata.ownerReferences).toEqual(owned);
    expect((await restore())?.metadata.ownerReferences).toEqual(owned);
    expect((await restore())?.spec).toMatchObject({
      ...{ type: 'Clone', tenantControlPlaneName: name, source: { policyName: 'hourly' } },
    });
    expect(await world.jobOf('restore', await world.read(tenantRestore, name))).toBeDefined();
    expect(await rehearsed()).toBe('Unknown NotRehearsed');
    expect(await message()).toBe('TenantRestore hourly-rehearsal is restoring the newest backup');
    // The policy goes on meanwhile.
    expect(await world.deploymentOf(policy)).toBeDefined();
  });

  test('notes what was restored and how long it took, and leaves nothing', async () => {
    await ends();
    await world.settle(6);
    expect(await rehearsed()).toBe('True Restored');
    const { rehearsal } = (await world.read(backupPolicy, 'hourly')).status ?? {};
    expect(rehearsal).toMatchObject({ restoredTime: '2030-01-01T01:00:30.000Z', keys: 3, bytes: 300, seconds: 30 });
    expect([await trial(), await restore()]).toEqual([undefined, undefined]);
  });

  test('runs again when it is due, and not before', async () => {
    await ends();
    await world.settle(6);
    await world.clock.advance(23 * 3_600_000);
    await world.settle();
    expect(await restore()).toBeUndefined();
    await world.clock.advance(3_600_000);
    await world.settle();
    expect(await restore()).toBeDefined();
    expect(await rehearsed()).toBe('True Restored');
  });

  test('that fails reports why, leaves nothing, and runs again as scheduled', async () => {
    await ends('Failed');
    await world.settle(6);
    expect(await rehearsed()).toBe('False RehearsalFailed');
    expect(await message()).toBe('chunk 7 is damaged');
    expect([await trial(), await restore()]).toEqual([undefined, undefined]);
    await world.clock.advance(24 * 3_600_000);
    await world.settle();
    expect(await restore()).toBeDefined();
  });

  test('uses the DataStore that the spec names', async () => {
    await begin({ interval: '24h', dataStoreName: 'trials' });
    expect((await trial())?.spec.dataStore).toBe('trials');
  });

  test('waits for the first backup', async () => {
    world = new BackupKindsWorld();
    await world.tenant();
    await world.policy({ rehearsal: { schedule: '0 4 * * *', timeZone: 'Europe/Berlin' } });
    await world.settle();
    expect([await trial(), await rehearsed()]).toEqual([undefined, 'Unknown NotRehearsed']);
    expect(await message()).toBe('no backup has been taken yet');
  });

  test('does not change an object of its name that it does not own', async () => {
    world = new BackupKindsWorld();
    await world.tenant();
    await world.tenant(name);
    await world.policy({ rehearsal: { interval: '24h' } });
    await world.report(backupPolicy, 'hourly', reportOf(1));
    await world.settle();
    expect([await restore(), await rehearsed()]).toEqual([undefined, 'False NameTaken']);
    await change(null);
    await world.settle();
    expect(await trial()).toBeDefined();
  });

  test('ends, and its objects are deleted, when the spec no longer requests it', async () => {
    await change(null);
    await world.settle(6);
    expect([await trial(), await restore(), await rehearsed()]).toEqual([undefined, undefined, undefined]);
  });

  test('does not run again with an invalid schedule', async () => {
    await ends();
    await world.settle(6);
    await change({ schedule: 'often', interval: null });
    await world.clock.advance(48 * 3_600_000);
    await world.settle();
    expect(await world.condition(backupPolicy, 'hourly', 'Ready')).toBe('False InvalidSpec');
    expect(await trial()).toBeUndefined();
  });
});

test('A manager that dies after any call of a rehearsal notes its result once, and leaves nothing', async () => {
  const live = async (): Promise<void> => {
    await world.settle(3);
    if (world.cluster.crashed) return;
    if ((await restore()) !== undefined && (await rehearsed()) === 'Unknown NotRehearsed') await ends();
    await world.settle(6);
  };
  const start = async (): Promise<void> => {
    world = new BackupKindsWorld();
    await world.key();
    await world.tenant();
    await world.policy({ rehearsal: { interval: '24h' } });
    await world.report(backupPolicy, 'hourly', reportOf(2));
    await world.clock.advance(3_601_000);
  };
  await start();
  await live();
  expect(await rehearsed()).toBe('True Restored');
  const calls = world.cluster.calls.length;
  for (const call of crashPoints(calls, 'rehearsal')) {
    await start();
    world.cluster.crashAfter(call, { losesAnswer: true });
    await live();
    world.restart();
    await live();
    expect({ call, is: await rehearsed(), left: [await trial(), await restore()] }).toEqual({
      ...{ call, is: 'True Restored', left: [undefined, undefined] },
    });
  }
});
