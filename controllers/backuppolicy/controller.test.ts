import { beforeEach, describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import { annotations, labels } from '../../api/names.ts';
import { backupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import { tenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import { tenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { BackupKindsWorld, reportOf, shopSource } from '../../testing/worlds/backup-kinds-world.ts';
import { crashPoints } from '../../testing/worlds/crash-points.ts';

let world: BackupKindsWorld;

beforeEach(() => {
  world = new BackupKindsWorld();
});

const ready = (name = 'hourly'): Promise<string | undefined> => world.condition(backupPolicy, name, 'Ready');

const backupNames = async (): Promise<readonly string[]> =>
  (await world.cluster.admin.list(tenantBackup)).items.map(({ metadata }) => metadata.name).sort();

describe('A BackupPolicy', () => {
  test('runs a process in the namespace of the manager, which reads the key and the control plane of its own namespace', async () => {
    await world.tenant();
    const policy = await world.policy({ retention: { keepLast: 5 } });
    await world.settle();
    const deployment = await world.deploymentOf(policy);
    const { spec: pod } = deployment?.spec?.template ?? {};
    expect(deployment?.metadata.namespace).toBe('steward-system');
    expect(pod?.serviceAccountName).toBe('steward-backup');
    expect(pod?.containers[0]?.args).toEqual([
      'backup',
      '--tenant-control-plane=tenants/shop',
      '--repository=/backups',
      '--key-secret=tenants/backup-key/key',
      `--report=backuppolicies/tenants/hourly/${policy.metadata.uid}`,
      '--follow',
      '--interval=1h',
      '--keep=5',
    ]);
    expect(pod?.volumes?.[0]?.persistentVolumeClaim).toEqual({ claimName: 'backups' });
    expect(deployment?.spec?.strategy?.type).toBe('Recreate');
    expect(await ready()).toBe('False Starting');
  });

  test('passes the bucket that a Secret describes to the process in its environment', async () => {
    await world.tenant();
    const policy = await world.policy({ storage: { bucket: { secretName: 'bucket' } } });
    await world.settle();
    const { spec: pod } = (await world.deploymentOf(policy))?.spec?.template ?? {};
    const [container] = pod?.containers ?? [];
    expect(container?.args).toContain('--repository=$(STEWARD_BACKUP_REPOSITORY)');
    const keys = container?.env?.map(({ name, valueFrom }) => [name, valueFrom?.secretKeyRef]);
    expect(Object.fromEntries(keys ?? [])).toMatchObject({
      STEWARD_BACKUP_REPOSITORY: { name: 'bucket', key: 'repository' },
      AWS_SECRET_ACCESS_KEY: { name: 'bucket', key: 'AWS_SECRET_ACCESS_KEY', optional: true },
      STEWARD_BACKUP_S3_CA: { name: 'bucket', key: 'ca.crt', optional: true },
    });
    expect(pod?.volumes?.map(({ name }) => name)).toEqual(['tmp']);
  });

  test('passes a schedule and its time zone to the process', async () => {
    await world.tenant();
    const policy = await world.policy({ interval: undefined, schedule: '0 3 * * *', timeZone: 'Europe/Berlin' });
    await world.settle();
    const args = (await world.deploymentOf(policy))?.spec?.template.spec?.containers[0]?.args;
    expect(args).toEqual(expect.arrayContaining(['--schedule=0 3 * * *', '--time-zone=Europe/Berlin']));
  });

  test('says what can be restored, and has a TenantBackup for each backup', async () => {
    await world.tenant();
    await world.policy();
    await world.settle();
    await world.report(backupPolicy, 'hourly', reportOf(2));
    await world.clock.advance(3_601_000);
    await world.settle();
    expect(await ready()).toBe('True BackingUp');
    expect((await world.read(backupPolicy, 'hourly')).status).toMatchObject({
      backups: 2,
      lastBackupTime: '2030-01-01T01:00:00.000Z',
      recoverableFrom: '2030-01-01T00:00:00.000Z',
      recoverableUntil: '2030-01-01T01:00:30.000Z',
    });
    expect(await backupNames()).toEqual(['hourly-20300101t000000000z', 'hourly-20300101t010000000z']);
    const [first, second] = await Promise.all(
      (await backupNames()).map(async (name) => (await world.read(tenantBackup, name)).status),
    );
    expect(first).toMatchObject({ phase: 'Completed', revision: '100', keys: 3, bytes: 300, source: shopSource });
    expect(first?.changesUntil).toBe('2030-01-01T01:00:00.000Z');
    expect(second?.changesUntil).toBe('2030-01-01T01:00:30.000Z');
  });

  test('keeps a TenantBackup for each backup that its retention keeps, and recreates one that a user deletes', async () => {
    await world.tenant();
    await world.policy();
    await world.settle();
    const { backups, changesUntil } = reportOf(3);
    await world.report(backupPolicy, 'hourly', { backups: backups.slice(0, 2), changesUntil });
    await world.settle();
    await world.cluster.admin.delete(tenantBackup, { namespace: 'tenants', name: 'hourly-20300101t010000000z' });
    await world.report(backupPolicy, 'hourly', { backups: backups.slice(1), changesUntil });
    await world.settle();
    expect(await backupNames()).toEqual(['hourly-20300101t010000000z', 'hourly-20300101t020000000z']);
  });

  test('reports the error of its process', async () => {
    await world.tenant();
    await world.policy();
    await world.report(backupPolicy, 'hourly', { problem: 'the volume is full' });
    await world.settle();
    expect(await ready()).toBe('False ProcessFailed');
    await world.report(backupPolicy, 'hourly', { ...reportOf(1), problem: null });
    await world.settle();
    expect(await ready()).toBe('True BackingUp');
  });

  test('is overdue when its process does not report, or has not taken a backup that was due', async () => {
    await world.tenant();
    await world.policy();
    await world.settle();
    await world.report(backupPolicy, 'hourly', reportOf(1));
    await world.clock.advance(6 * 60_000);
    await world.settle();
    expect(await ready()).toBe('False BackupOverdue');
    const { backups } = reportOf(1);
    await world.report(backupPolicy, 'hourly', { backups, changesUntil: '2030-01-01T01:16:00.000Z' });
    await world.clock.advance(71 * 60_000);
    await world.settle();
    expect(await ready()).toBe('False BackupOverdue');
  });

  test.each([
    ['is suspended', { suspend: true }, 'Suspended'],
    [
      'names a claim that the administrator does not allow',
      { storage: { persistentVolumeClaim: { claimName: 'etcd-0' } } },
      'StorageNotAllowed',
    ],
    [
      'names a bucket that the administrator does not allow',
      { storage: { bucket: { secretName: 'steward-webhook-certificate' } } },
      'StorageNotAllowed',
    ],
    ['has a schedule that means nothing', { interval: undefined, schedule: 'often' }, 'InvalidSpec'],
    ['names a control plane that does not exist', { tenantControlPlaneName: 'other' }, 'TenantControlPlaneNotFound'],
  ])('runs no process if it %s', async (_what, spec, reason) => {
    await world.tenant();
    const policy = await world.policy(spec);
    await world.settle();
    expect(await world.deploymentOf(policy)).toBeUndefined();
    expect(await ready()).toBe(`False ${reason}`);
  });

  test.each([
    ['spec.schedule', { interval: undefined, schedule: 'often' }],
    ['spec.timeZone', { interval: undefined, schedule: '0 * * * *', timeZone: 'Nowhere' }],
    ['spec.rehearsal.schedule', { rehearsal: { schedule: 'often' } }],
    ['spec.rehearsal.timeZone', { rehearsal: { schedule: '0 * * * *', timeZone: 'Nowhere' } }],
  ])('names %s if that is wrong', async (field, spec) => {
    await world.tenant();
    await world.policy(spec);
    await world.settle();
    const { conditions } = (await world.read(backupPolicy, 'hourly')).status ?? {};
    const found = conditions?.find(({ type }) => type === 'Ready');
    expect(found).toMatchObject({ reason: 'InvalidSpec', message: expect.stringContaining(`${field}: "`) as unknown });
    expect(await ready()).toBe('False InvalidSpec');
  });

  test('ends its process while the control plane is deleted, is suspended or restored, and starts it again', async () => {
    await world.tenant();
    const policy = await world.policy();
    await world.settle();
    const key = { namespace: 'tenants', name: 'hourly' };
    await world.cluster.admin.patch(backupPolicy, key, { type: 'merge', body: { spec: { suspend: true } } });
    await world.settle();
    expect(await world.deploymentOf(policy)).toBeUndefined();
    await world.cluster.admin.patch(backupPolicy, key, { type: 'merge', body: { spec: { suspend: false } } });
    await world.settle();
    expect(await world.deploymentOf(policy)).toBeDefined();
    await world.cluster.admin.delete(tenantControlPlane, { namespace: 'tenants', name: 'shop' });
    await world.settle();
    expect(await world.deploymentOf(policy)).toBeUndefined();
    expect(await ready()).toBe('False TenantControlPlaneNotFound');
  });

  test('is one of a control plane: of two, the older one', async () => {
    await world.tenant();
    const first = await world.policy();
    await world.clock.advance(1000);
    const second = await world.policy({}, 'daily');
    await world.settle();
    expect(await world.deploymentOf(first)).toBeDefined();
    expect(await world.deploymentOf(second)).toBeUndefined();
    expect(await ready('daily')).toBe('False AnotherPolicy');
    await world.cluster.admin.delete(backupPolicy, { namespace: 'tenants', name: 'hourly' });
    await world.settle();
    expect(await world.deploymentOf(second)).toBeDefined();
  });

  test('works beside an older one for a control plane of the same name in another namespace', async () => {
    await world.tenant();
    const { spec } = await world.policy({}, 'model');
    await world.cluster.admin.delete(backupPolicy, { namespace: 'tenants', name: 'model' });
    const metadata = { namespace: 'others', name: 'hourly' };
    const [apiVersion, kind] = ['steward.butlerlabs.dev/v1alpha1', 'BackupPolicy'];
    await world.cluster.admin.create(backupPolicy, { apiVersion, kind, metadata, spec });
    await world.clock.advance(1000);
    const policy = await world.policy();
    await world.settle();
    expect(await world.deploymentOf(policy)).toBeDefined();
  });

  test('continues while a restore waits for a person, and stops while it works', async () => {
    await world.tenant();
    const policy = await world.policy();
    const restore = await world.restore();
    await world.settle();
    expect(await world.condition(tenantRestore, 'back', 'Complete')).toBe('False WaitingForSleep');
    expect(await world.deploymentOf(policy)).toBeDefined();
    await world.tenant('shop', 0);
    await world.settle();
    expect(await world.deploymentOf(policy)).toBeUndefined();
    expect(await ready()).toBe('False Restoring');
    expect(await world.jobOf('restore', restore)).toBeDefined();
  });

  test('saves nothing of a control plane that waits for its restore, and continues once that is complete', async () => {
    const { uid } = (await world.tenant('shop', 0, { annotations: { [annotations.awaitsRestore]: 'back' } })).metadata;
    const policy = await world.policy();
    await world.settle();
    expect(await world.deploymentOf(policy)).toBeUndefined();
    expect(await ready()).toBe('False Restoring');
    const restored = { [annotations.restored]: `2030-01-01T00:00:00.000Z task ${uid}` };
    const body = { metadata: { annotations: restored } };
    await world.cluster.admin.patch(
      tenantControlPlane,
      { namespace: 'tenants', name: 'shop' },
      { type: 'merge', body },
    );
    await world.settle();
    expect(await world.deploymentOf(policy)).toBeDefined();
  });

  test('saves nothing of data that a failed restore has left unfinished, until another one is complete', async () => {
    await world.tenant('shop', 0);
    const policy = await world.policy();
    await world.restore();
    await world.settle();
    const end = async (name: string, phase: 'Failed' | 'Completed', process: object): Promise<void> => {
      const key = { namespace: 'tenants', name };
      const body = { status: { phase, process } };
      await world.cluster.admin.patch(tenantRestore, key, { type: 'merge', body }, { subresource: 'status' });
      await world.settle();
    };
    await end('back', 'Failed', { step: 'Preparing', problem: 'the folder cannot be read' });
    expect(await world.deploymentOf(policy)).toBeDefined();

    await end('back', 'Failed', { step: 'Preparing', backupTime: '2030-01-01T00:00:00Z' });
    expect(await world.deploymentOf(policy)).toBeUndefined();
    expect(await ready()).toBe('False RestoreFailed');

    await world.clock.advance(1000);
    await world.restore({}, 'again');
    await end('again', 'Completed', { step: 'Restored', backupTime: '2030-01-01T00:00:00Z' });
    expect(await world.deploymentOf(policy)).toBeDefined();
  });
});

describe('A BackupPolicy that is deleted', () => {
  const end = async (): Promise<void> => {
    await world.cluster.admin.delete(backupPolicy, { namespace: 'tenants', name: 'hourly' });
    await world.settle();
  };

  test('ends its process, and leaves the backups', async () => {
    await world.tenant();
    const policy = await world.policy();
    await world.settle();
    await world.report(backupPolicy, 'hourly', reportOf(1));
    await world.settle();
    await end();
    expect(await world.cluster.admin.get(backupPolicy, { namespace: 'tenants', name: 'hourly' })).toBeUndefined();
    expect(await world.deploymentOf(policy)).toBeUndefined();
    expect(await world.jobOf('removal', policy)).toBeUndefined();
    expect(await backupNames()).toHaveLength(1);
  });

  test('waits until the pod of its process is gone', async () => {
    await world.tenant();
    const policy = await world.policy();
    await world.settle();
    const metadata = {
      namespace: 'steward-system',
      name: 'a',
      labels: { [labels.component]: 'backup', [labels.backupOwner]: policy.metadata.uid },
    };
    await world.cluster.seed(kinds.Pod, { apiVersion: 'v1', kind: 'Pod', metadata });
    await end();
    expect(await world.condition(backupPolicy, 'hourly', 'Deleting')).toBe('True StoppingProcess');
    await world.cluster.admin.delete(kinds.Pod, { namespace: 'steward-system', name: 'a' }, { gracePeriodSeconds: 0 });
    await world.settle();
    expect(await world.cluster.admin.get(backupPolicy, { namespace: 'tenants', name: 'hourly' })).toBeUndefined();
  });

  test('removes the backups and their TenantBackups with deletionPolicy Delete', async () => {
    await world.tenant();
    const policy = await world.policy({ deletionPolicy: 'Delete' });
    await world.settle();
    await world.report(backupPolicy, 'hourly', reportOf(1));
    await world.settle();
    await end();
    const args = (await world.jobOf('removal', policy))?.spec?.template.spec?.containers[0]?.args;
    expect(args).toEqual([
      'backup',
      '--tenant-control-plane=tenants/shop',
      '--repository=/backups',
      '--remove',
      `--report=backuppolicies/tenants/hourly/${policy.metadata.uid}`,
    ]);
    expect(await world.condition(backupPolicy, 'hourly', 'Deleting')).toBe('True RemovingBackups');
    await world.jobEnds('removal', policy);
    await world.settle();
    expect(await world.cluster.admin.get(backupPolicy, { namespace: 'tenants', name: 'hourly' })).toBeUndefined();
    expect(await backupNames()).toEqual([]);
  });

  test('removes no backups that another policy of the control plane has', async () => {
    await world.tenant();
    const policy = await world.policy({ deletionPolicy: 'Delete' });
    await world.policy({}, 'daily');
    await world.settle();
    await end();
    expect(await world.jobOf('removal', policy)).toBeUndefined();
    expect(world.events).toContainEqual(expect.stringContaining('BackupsRetained'));
  });
});

describe('A manager that dies', () => {
  /** From the first process to the deletion of all backups. */
  async function live(until: BackupKindsWorld, mayStop: () => boolean): Promise<void> {
    const stop = (): boolean => mayStop() && until.cluster.crashed;
    await until.settle(3);
    if (stop()) return;
    await until.report(backupPolicy, 'hourly', reportOf(2));
    await until.settle(3);
    if (stop()) return;
    await until.cluster.admin.delete(backupPolicy, { namespace: 'tenants', name: 'hourly' });
    await until.settle(3);
  }

  test('after any call leads to the same objects', async () => {
    const begin = async (): Promise<BackupKindsWorld> => {
      world = new BackupKindsWorld();
      await world.tenant();
      await world.policy({ deletionPolicy: 'Delete' });
      return world;
    };
    const model = await begin();
    await live(model, () => false);
    const calls = model.cluster.calls.length;
    expect(calls).toBeGreaterThan(20);
    for (const call of crashPoints(calls, 'backup policy')) {
      const mortal = await begin();
      const policy = await mortal.read(backupPolicy, 'hourly');
      mortal.cluster.crashAfter(call, { losesAnswer: true });
      await live(mortal, () => true);
      mortal.restart();
      if ((await mortal.read(backupPolicy, 'hourly')).metadata.deletionTimestamp === undefined)
        await live(mortal, () => false);
      await mortal.settle();
      await mortal.jobEnds('removal', policy);
      await mortal.settle();
      expect({
        call,
        policy: await mortal.cluster.admin.get(backupPolicy, { namespace: 'tenants', name: 'hourly' }),
        backups: await backupNames(),
        process: await mortal.deploymentOf(policy),
      }).toEqual({ call, policy: undefined, backups: [], process: undefined });
    }
  });
});
