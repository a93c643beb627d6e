import { beforeEach, describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import type { KindRef, NamespacedResource } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/meta.ts';
import { annotations } from '../../api/names.ts';
import { backupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import { tenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import { tenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { TenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { BackupKindsWorld, reportOf, shopSource, storeReady } from '../../testing/worlds/backup-kinds-world.ts';
import { crashPoints } from '../../testing/worlds/crash-points.ts';

let world: BackupKindsWorld;
const restored = { step: 'Restored', restoredTime: '2030-01-01T00:00:05.000Z', keys: 3, bytes: 300, changes: 1 };

beforeEach(() => {
  world = new BackupKindsWorld();
});

const complete = (name = 'back'): Promise<string | undefined> => world.condition(tenantRestore, name, 'Complete');
const failed = (): Promise<string | undefined> => world.condition(tenantRestore, 'back', 'Failed');
const argsOf = async (restore: TenantRestore): Promise<readonly string[] | undefined> =>
  (await world.jobOf('restore', restore))?.spec?.template.spec?.containers[0]?.args;

/** An object `theirs` in another namespace. */
async function seedElsewhere(kind: KindRef<NamespacedResource>, spec: object): Promise<void> {
  const metadata = { namespace: 'others', name: 'theirs' };
  await world.cluster.seed(kind, { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, spec });
}

describe('A TenantRestore', () => {
  test('in place restores a control plane that sleeps, to a moment', async () => {
    await world.tenant('shop', 0);
    await world.policy();
    const source = { policyName: 'hourly' };
    const restore = await world.restore({ source, toTime: '2030-01-01T00:30:00Z' });
    await world.settle(6);
    expect(await argsOf(restore)).toEqual([
      'restore',
      '--tenant-control-plane=tenants/shop',
      '--repository=/backups',
      '--key-secret=tenants/backup-key/key',
      `--report=tenantrestores/tenants/back/${restore.metadata.uid}`,
      '--from=tenants/shop',
      '--at=2030-01-01T00:30:00Z',
    ]);
    const job = await world.jobOf('restore', restore);
    expect(job?.spec?.template.spec?.serviceAccountName).toBe('steward-restore');
    await world.report(tenantRestore, 'back', restored);
    await world.jobEnds('restore', restore);
    await world.settle();
    expect(await complete()).toBe('True Completed');
    expect(await failed()).toBe('False NotFailed');
    const { status } = await world.read(tenantRestore, 'back');
    expect(status).toMatchObject({ phase: 'Completed', restoredTime: restored.restoredTime });
    expect(await world.condition(backupPolicy, 'hourly', 'Ready')).toBe('False Starting');
  });

  test('waits until a control plane in use sleeps', async () => {
    await world.tenant('shop', 2);
    const restore = await world.restore();
    await world.settle();
    expect(await complete()).toBe('False WaitingForSleep');
    expect((await world.read(tenantRestore, 'back')).status?.phase).toBe('Pending');
    await world.tenant('shop', 0);
    await world.settle();
    expect(await argsOf(restore)).toBeDefined();
  });

  test('puts the control plane to sleep if the spec says so, and notes how many pods it had', async () => {
    await world.tenant('shop', 2);
    const restore = await world.restore({ sleep: true });
    await world.settle();
    const tcp = await world.read(tenantControlPlane, 'shop');
    expect(tcp.spec.controlPlane.deployment.replicas).toBe(0);
    expect(tcp.metadata.annotations?.[annotations.replicasBeforeSleep]).toBe('2');
    expect(await argsOf(restore)).toBeDefined();
  });

  test('does not put a control plane to sleep whose replicas another object sets', async () => {
    const owner = { apiVersion: 'a/v1', kind: 'StewardControlPlane', name: 'parent', uid: 'u', controller: true };
    await world.tenant('shop', 2, { ownerReferences: [owner] });
    await world.restore({ sleep: true });
    await world.settle();
    expect(await complete()).toBe('False WaitingForSleep');
    const { status } = await world.read(tenantRestore, 'back');
    expect(status?.conditions?.map(({ message }) => message).join()).toContain(
      'StewardControlPlane parent sets its replicas: put the StewardControlPlane to sleep first',
    );
    expect((await world.read(tenantControlPlane, 'shop')).spec.controlPlane.deployment.replicas).toBe(2);
  });

  test('puts a control plane of a claim to sleep, as the claim owns it without changing it', async () => {
    const apiVersion = 'steward.butlerlabs.dev/v1alpha1';
    const owner = { apiVersion, kind: 'ControlPlaneClaim', name: 'mine', uid: 'u', controller: true };
    await world.tenant('shop', 2, { ownerReferences: [owner] });
    await world.restore({ sleep: true });
    await world.settle();
    expect((await world.read(tenantControlPlane, 'shop')).spec.controlPlane.deployment.replicas).toBe(0);
  });

  test('creates a deleted control plane again', async () => {
    const restore = await world.restore({ type: 'Recreate' });
    await world.settle();
    expect(await argsOf(restore)).toBeDefined();
    await world.tenant('shop', 2);
    await world.settle();
    expect(await complete()).toBe('False Running');
  });

  test('fills a clone with another name, once that exists', async () => {
    const restore = await world.restore({ type: 'Clone', tenantControlPlaneName: 'copy' });
    await world.settle();
    expect(await complete()).toBe('False TenantControlPlaneNotFound');
    await world.tenant('copy', 0);
    await world.settle();
    expect(await argsOf(restore)).toEqual(
      expect.arrayContaining(['--tenant-control-plane=tenants/copy', '--from=tenants/shop']),
    );
  });

  test.each([
    ['it is to be created again and exists', { type: 'Recreate' }, 'TenantControlPlaneExists'],
    [
      'it is to be restored in place and does not exist',
      { tenantControlPlaneName: 'shop' },
      'TenantControlPlaneNotFound',
    ],
    ['it is to be restored in place from another one', { tenantControlPlaneName: 'other' }, 'InvalidSpec'],
    ['it is a clone of its own name', { type: 'Clone' }, 'InvalidSpec'],
  ])('fails at once if %s', async (_what, spec, reason) => {
    if (reason !== 'TenantControlPlaneNotFound') await world.tenant();
    const restore = await world.restore(spec);
    await world.settle();
    expect(await failed()).toBe(`True ${reason}`);
    await world.cluster.admin.delete(tenantControlPlane, { namespace: 'tenants', name: 'shop' });
    await world.settle();
    expect(await argsOf(restore)).toBeUndefined();
  });

  test('from a TenantBackup restores exactly this one', async () => {
    await world.tenant('shop', 0);
    await world.policy();
    const once = await world.backup();
    await world.settle();
    const ofPolicy = 'hourly-20300101t000000000z';
    const first = await world.restore({ source: { backupName: ofPolicy } }, 'first');
    await world.settle();
    expect(await complete('first')).toBe('False BackupNotFound');
    await world.report(backupPolicy, 'hourly', reportOf(1));
    await world.settle();
    await world.report(tenantBackup, 'once', { time: '2030-01-01T00:00:00Z', revision: '1', keys: 1, bytes: 1 });
    await world.jobEnds('backup', once);
    await world.settle(6);
    expect(await argsOf(first)).toEqual(expect.arrayContaining(['--at=2030-01-01T00:00:00.000Z']));
    await world.jobEnds('restore', first, 'Failed');
    await world.settle();
    const second = await world.restore({ source: { backupName: 'once' } }, 'second');
    await world.settle(6);
    expect(await argsOf(second)).toEqual(expect.arrayContaining([`--folder=once/${once.metadata.uid}`]));
  });

  test('from a repository restores the backup that was taken once whose UID it names, which need not be known here', async () => {
    await world.tenant('shop', 0);
    const backupUID = '0dd0b9f5-6f0a-4f4e-9b1c-0a1b2c3d4e5f';
    const restore = await world.restore({ source: { repository: { ...shopSource, backupUID } } });
    await world.settle(6);
    expect(await argsOf(restore)).toEqual(
      expect.arrayContaining(['--from=tenants/shop', `--folder=once/${backupUID}`]),
    );
  });

  test('never leads to another namespace, whatever the names in it', async () => {
    await world.tenant('shop', 0);
    // A policy and a backup of the same names in another namespace.
    const source = { ...shopSource, tenantControlPlaneName: 'theirs' };
    await seedElsewhere(backupPolicy, { ...source, interval: '1h' });
    await seedElsewhere(tenantBackup, { source });
    const restore = await world.restore();
    const foreign = [
      await world.restore({ source: { policyName: 'theirs' } }, 'by-policy'),
      await world.restore({ source: { backupName: 'theirs' } }, 'by-backup'),
    ];
    await world.settle();
    const args = (await argsOf(restore)) ?? [];
    for (const flag of ['--tenant-control-plane=', '--key-secret=', '--from=']) {
      expect(args.find((arg) => arg.startsWith(flag))?.slice(flag.length)).toMatch(/^tenants\//);
    }
    for (const one of foreign) {
      expect(await complete(one.metadata.name)).toBe('False BackupNotFound');
      expect(await argsOf(one)).toBeUndefined();
    }
  });

  test('waits for a claim that the administrator does not allow', async () => {
    await world.tenant('shop', 0);
    const storage = { persistentVolumeClaim: { claimName: 'etcd-0' } };
    await world.restore({ source: { repository: { ...shopSource, storage } } });
    await world.settle();
    expect(await complete()).toBe('False StorageNotAllowed');
    const { status } = await world.read(tenantRestore, 'back');
    expect(status?.conditions?.[0]?.message).toContain('these of the namespace are allowed: backups');
  });

  test.each([
    ['does not exist', undefined, 'waiting for Secret tenants/backup-key, whose key "key" has to be the one'],
    ['has another key only', { other: 'x' }, 'waiting for the key "key" in Secret tenants/backup-key'],
    ['has no key of a backup', { key: 'secret' }, 'the key "key" in Secret tenants/backup-key is not the base64'],
  ])('waits while the Secret with the key %s, and goes on once it has the key', async (_what, data, message) => {
    world.hasKey = false;
    await world.tenant('shop', 2);
    if (data !== undefined) await world.key(data);
    const restore = await world.restore({ sleep: true });
    await world.settle();
    expect(await complete()).toBe('False WaitingForKey');
    expect(await failed()).toBe('False NotFailed');
    const { status } = await world.read(tenantRestore, 'back');
    expect(status?.conditions?.[0]?.message).toContain(message);
    expect(status?.phase).toBe('Pending');
    // Nothing has happened to the control plane meanwhile.
    expect((await world.read(tenantControlPlane, 'shop')).spec.controlPlane.deployment.replicas).toBe(2);
    await world.key();
    await world.settle(6);
    expect(await argsOf(restore)).toBeDefined();
  });

  test('looks for the Secret with the key by itself, which no watch reports', async () => {
    world.hasKey = false;
    await world.tenant('shop', 0);
    await world.restore();
    expect((await world.outcomeOf(tenantRestore, 'back')).afterMs).toBe(10_000);
  });

  test('is the only one that works on its control plane', async () => {
    await world.tenant('shop', 0);
    const first = await world.restore({}, 'first');
    await world.clock.advance(1000);
    const second = await world.restore({}, 'second');
    await world.settle(6);
    expect(await argsOf(first)).toBeDefined();
    expect(await argsOf(second)).toBeUndefined();
    expect(await complete('second')).toBe('False WaitingForProcesses');
    await world.report(tenantRestore, 'first', restored);
    await world.jobEnds('restore', first);
    await world.settle(6);
    expect(await argsOf(second)).toBeDefined();
  });

  test('does not wait for one that works on another control plane', async () => {
    await world.tenant('shop', 0);
    await world.tenant('other', 0);
    const spec = { type: 'Clone', tenantControlPlaneName: 'other' } as const;
    const first = await world.restore({}, 'first');
    await world.settle(6);
    await world.clock.advance(1000);
    const second = await world.restore(spec, 'second');
    await world.settle(6);
    expect(await argsOf(first)).toBeDefined();
    expect(await argsOf(second)).toBeDefined();
  });

  test('says when its process was started also if the manager died before it could report that', async () => {
    await world.tenant('shop', 0);
    const restore = await world.restore();
    world.cluster.after(({ verb, kind }) => {
      if (verb === 'create' && kind?.kind === 'Job') world.cluster.crashAfter(0);
    });
    await world.settle();
    world.restart();
    await world.report(tenantRestore, 'back', restored);
    await world.jobEnds('restore', restore);
    await world.settle();
    const { status } = await world.read(tenantRestore, 'back');
    const job = await world.jobOf('restore', restore);
    expect(status).toMatchObject({ phase: 'Completed', startTime: job?.metadata.creationTimestamp });
  });

  test('fails with the last error of its process, and is not tried again', async () => {
    await world.tenant('shop', 0);
    const restore = await world.restore();
    await world.settle();
    await world.report(tenantRestore, 'back', { step: 'Preparing', problem: 'the key is another one' });
    await world.settle();
    expect((await world.read(tenantRestore, 'back')).status?.conditions?.[0]?.message).toBe('the key is another one');
    await world.jobEnds('restore', restore, 'Failed');
    await world.settle();
    expect(await failed()).toBe('True RestoreFailed');
    expect(world.events).toContain('RestoreFailed: the key is another one');
  });

  test('fails and says so when the deletion of its control plane has ended its process', async () => {
    await world.tenant('shop', 0);
    const restore = await world.restore();
    await world.settle();
    await world.report(tenantRestore, 'back', { problem: 'This operation was aborted' });
    const at = { namespace: 'tenants', name: 'shop' };
    const body = { metadata: { finalizers: ['a/b'] } };
    await world.cluster.admin.patch(tenantControlPlane, at, { type: 'merge', body });
    await world.cluster.admin.delete(tenantControlPlane, at);
    const job = await world.jobOf('restore', restore);
    await world.cluster.admin.delete(kinds.Job, { namespace: 'steward-system', name: job?.metadata.name ?? '' });
    await world.settle();
    expect(await failed()).toBe('True RestoreFailed');
    const { status } = await world.read(tenantRestore, 'back');
    expect(status?.conditions?.[0]?.message).toBe('TenantControlPlane shop was deleted while it was restored');
  });

  test('that is deleted ends its process', async () => {
    await world.tenant('shop', 0);
    const restore = await world.restore();
    await world.settle();
    await world.cluster.admin.delete(tenantRestore, { namespace: 'tenants', name: 'back' });
    await world.settle();
    expect(await world.jobOf('restore', restore)).toBeUndefined();
    expect((await world.cluster.admin.list(tenantRestore)).items).toEqual([]);
  });
});

describe('A TenantRestore that moves', () => {
  const awaits = { annotations: { [annotations.awaitsRestore]: 'back' } };
  const move = (spec: object = {}): Promise<TenantRestore> =>
    world.restore({ type: 'Move', tenantControlPlaneName: 'new', ...spec });
  const messageOf = async (): Promise<string | undefined> =>
    (await world.read(tenantRestore, 'back')).status?.conditions?.find(({ type }) => type === 'Complete')?.message;

  test('waits for its control plane, and fills it with the CAs and keys of the one that was backed up', async () => {
    const restore = await move();
    await world.settle();
    expect(await complete()).toBe('False TenantControlPlaneNotFound');
    expect(await messageOf()).toContain(annotations.awaitsRestore);
    await world.tenant('new', 0, awaits);
    await world.settle(6);
    expect(await argsOf(restore)).toEqual([
      'restore',
      '--tenant-control-plane=tenants/new',
      '--repository=/backups',
      '--key-secret=tenants/backup-key/key',
      `--report=tenantrestores/tenants/back/${restore.metadata.uid}`,
      '--from=tenants/shop',
      '--move',
    ]);
  });

  test('may give it the name that the lost one had', async () => {
    const restore = await move({ tenantControlPlaneName: 'shop' });
    await world.tenant('shop', 0, awaits);
    await world.settle(6);
    expect(await argsOf(restore)).toContain('--move');
  });

  test.each([
    ['waits for nothing', () => ({})],
    ['waits for another restore', () => ({ [annotations.awaitsRestore]: 'other' })],
    [
      'is complete',
      (uid: string) => ({ ...awaits.annotations, [annotations.restored]: `2030-01-01T00:00:00.000Z another ${uid}` }),
    ],
  ])('fails at once if the control plane %s, and starts nothing later', async (_what, marks) => {
    const { uid } = (await world.tenant('new', 0)).metadata;
    const body = { metadata: { annotations: marks(uid) } };
    await world.cluster.admin.patch(tenantControlPlane, { namespace: 'tenants', name: 'new' }, { type: 'merge', body });
    const restore = await move();
    await world.settle();
    expect(await failed()).toBe('True TenantControlPlaneExists');
    await world.tenant('new', 0, awaits);
    await world.settle();
    expect(await argsOf(restore)).toBeUndefined();
  });

  test('waits, without a process whose time would run out, until the DataStore has room', async () => {
    await world.tenant('new', 0, awaits);
    const store = async (status: 'True' | 'False'): Promise<void> => {
      const conditions = [{ ...storeReady, status, message: 'DataStore default does not exist' }];
      const at = { namespace: 'tenants', name: 'new' };
      const body = { status: { conditions } };
      await world.cluster.admin.patch(tenantControlPlane, at, { type: 'merge', body }, { subresource: 'status' });
    };
    await store('False');
    const restore = await move();
    await world.settle(6);
    expect(await complete()).toBe('False WaitingForStore');
    expect(await messageOf()).toContain('DataStore default does not exist');
    expect(await argsOf(restore)).toBeUndefined();
    await store('True');
    await world.settle(6);
    expect(await argsOf(restore)).toBeDefined();
  });

  test('waits if the annotation is missing on the control plane that its own StewardControlPlane has created', async () => {
    const owner = { apiVersion: 'a/v1', kind: 'StewardControlPlane', name: 'new', uid: 'u', controller: true };
    const ownerReferences = [owner];
    await world.tenant('new', 0, { ownerReferences });
    const restore = await move();
    const at = { namespace: 'tenants', name: 'back' };
    await world.cluster.admin.patch(tenantRestore, at, { type: 'merge', body: { metadata: { ownerReferences } } });
    await world.settle();
    expect(await complete()).toBe('False NotAwaited');
    expect(await failed()).toBe('False NotFailed');
    await world.tenant('new', 0, { ...awaits, ownerReferences });
    await world.settle(6);
    expect(await argsOf(restore)).toBeDefined();
  });

  test('waits while the control plane that was backed up is in use: two with the same keys would accept each other’s tokens', async () => {
    await world.tenant('shop', 2);
    await world.tenant('new', 0, awaits);
    const restore = await move();
    await world.settle();
    expect(await complete()).toBe('False WaitingForSleep');
    expect(await messageOf()).toContain('shop, whose CAs and keys new gets, is in use');
    await world.tenant('shop', 0);
    await world.settle(6);
    expect(await argsOf(restore)).toBeDefined();
  });

  test.each([
    ['sleeps', true],
    ['is deleted', false],
  ])('waits for the last pod of the control plane that was backed up, which %s', async (_what, exists) => {
    if (exists) await world.tenant('shop', 0);
    await world.tenant('new', 0, awaits);
    const pod = await world.pod('shop');
    const restore = await move();
    await world.settle(6);
    expect(await complete()).toBe('False WaitingForPods');
    expect(await messageOf()).toBe(
      'waiting for the pods of shop to end, whose CAs and keys new gets and which may still write: shop-abc',
    );
    expect(await argsOf(restore)).toBeUndefined();
    expect((await world.outcomeOf(tenantRestore, 'back')).afterMs).toBe(2000);
    await world.cluster.admin.delete(kinds.Pod, pod);
    await world.settle(6);
    expect(await argsOf(restore)).toBeDefined();
  });

  test('does not wait for pods that write nothing anymore, or that are of another control plane', async () => {
    await world.tenant('shop', 0);
    await world.tenant('new', 0, awaits);
    await world.pod('shop', 'Failed');
    await world.pod('shopping');
    const restore = await move();
    await world.settle(6);
    expect(await argsOf(restore)).toBeDefined();
  });

  test('waits until the control plane has no pods', async () => {
    await world.tenant('new', 1, awaits);
    const restore = await move();
    await world.settle();
    expect(await complete()).toBe('False WaitingForSleep');
    expect(await argsOf(restore)).toBeUndefined();
  });

  test.each(['InPlace', 'Clone'] as const)('goes before one of type %s into its control plane', async (type) => {
    await world.tenant('new', 0, awaits);
    const source = { repository: { ...shopSource, tenantControlPlaneName: type === 'InPlace' ? 'new' : 'shop' } };
    const other = await world.restore({ type, tenantControlPlaneName: 'new', source }, 'other');
    await world.settle(6);
    expect(await complete('other')).toBe('False WaitingForProcesses');
    expect(await argsOf(other)).toBeUndefined();
  });
});

describe('A manager that dies', () => {
  test('after any call restores once', async () => {
    const begin = async (): Promise<BackupKindsWorld> => {
      world = new BackupKindsWorld();
      await world.tenant('shop', 2);
      await world.restore({ sleep: true });
      return world;
    };
    const model = await begin();
    await model.settle(6);
    for (const call of crashPoints(model.cluster.calls.length, 'tenant restore')) {
      const mortal = await begin();
      mortal.cluster.crashAfter(call, { losesAnswer: true });
      await mortal.settle(6);
      mortal.restart();
      await mortal.settle(6);
      const jobs = (await mortal.cluster.admin.list(kinds.Job)).items;
      const tcp = await mortal.read(tenantControlPlane, 'shop');
      expect({ call, jobs: jobs.length, before: tcp.metadata.annotations?.[annotations.replicasBeforeSleep] }).toEqual({
        call,
        jobs: 1,
        before: '2',
      });
      const restore = await mortal.read(tenantRestore, 'back');
      await mortal.report(tenantRestore, 'back', restored);
      await mortal.jobEnds('restore', restore);
      await mortal.settle();
      expect({ call, done: await complete() }).toEqual({ call, done: 'True Completed' });
    }
  });
});
