import { beforeEach, describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import { backupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import { tenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import { BackupKindsWorld, reportOf, shopSource } from '../../testing/worlds/backup-kinds-world.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import { crashPoints } from '../../testing/worlds/crash-points.ts';

let world: BackupKindsWorld;
const key = { namespace: 'tenants', name: 'once' };
const taken = { time: '2030-01-01T00:00:05.000Z', revision: '7', keys: 3, bytes: 300 };

beforeEach(() => {
  world = new BackupKindsWorld();
});

const complete = (): Promise<string | undefined> => world.condition(tenantBackup, 'once', 'Complete');

describe('A TenantBackup', () => {
  test('is taken once, in a folder of its own', async () => {
    await world.tenant();
    const backup = await world.backup();
    await world.settle();
    const { spec } = (await world.jobOf('backup', backup)) ?? {};
    expect(spec?.template.spec?.containers[0]?.args).toEqual([
      'backup',
      '--tenant-control-plane=tenants/shop',
      '--repository=/backups',
      '--key-secret=tenants/backup-key/key',
      `--report=tenantbackups/tenants/once/${backup.metadata.uid}`,
      `--folder=once/${backup.metadata.uid}`,
    ]);
    expect(spec?.backoffLimit).toBe(3);
    expect(await complete()).toBe('False Running');
    expect((await world.read(tenantBackup, 'once')).status?.phase).toBe('Running');
  });

  test('is complete with what its process has reported, and stays so when the Job is gone', async () => {
    await world.tenant();
    const backup = await world.backup();
    await world.settle();
    await world.report(tenantBackup, 'once', taken);
    await world.jobEnds('backup', backup);
    await world.settle();
    expect(await complete()).toBe('True Completed');
    const { status } = await world.read(tenantBackup, 'once');
    expect(status).toMatchObject({ phase: 'Completed', source: shopSource, ...taken });
    await world.cluster.admin.delete(kinds.Job, {
      namespace: 'steward-system',
      name: `backup-${backup.metadata.uid}`,
    });
    await world.settle();
    expect(await complete()).toBe('True Completed');
    expect(await world.jobOf('backup', backup)).toBeUndefined();
  });

  test('says when its process was started also if the manager died before it could report that', async () => {
    await world.tenant();
    const backup = await world.backup();
    world.cluster.after(({ verb, kind }) => {
      if (verb === 'create' && kind?.kind === 'Job') world.cluster.crashAfter(0);
    });
    await world.settle();
    world.restart();
    await world.report(tenantBackup, 'once', taken);
    await world.jobEnds('backup', backup);
    await world.settle();
    const { status } = await world.read(tenantBackup, 'once');
    const job = await world.jobOf('backup', backup);
    expect(status).toMatchObject({ phase: 'Completed', startTime: job?.metadata.creationTimestamp });
  });

  test('is taken although the API server refused the Job with a conflict, such as one over a quota', async () => {
    await world.tenant();
    const backup = await world.backup();
    const why = 'Operation cannot be fulfilled on resourcequotas "all": the object has been modified';
    world.cluster.failNext({ verb: 'create', kind: 'Job' }, new ApiError(409, 'Conflict', why));
    await world.reconcile();
    await expect(world.reconcile()).rejects.toThrow('resourcequotas');
    await world.settle();
    expect(await world.jobOf('backup', backup)).toBeDefined();
    expect(await complete()).toBe('False Running');
  });

  test('fails with the last error of its process, and is not tried again', async () => {
    await world.tenant();
    const backup = await world.backup();
    await world.settle();
    await world.report(tenantBackup, 'once', { problem: 'Secret tenants/backup-key has no key key' });
    await world.jobEnds('backup', backup, 'Failed');
    await world.settle();
    expect(await complete()).toBe('False Failed');
    expect(await world.condition(tenantBackup, 'once', 'Failed')).toBe('True BackupFailed');
    const { status } = await world.read(tenantBackup, 'once');
    expect(status?.conditions?.[0]?.message).toBe('Secret tenants/backup-key has no key key');
  });

  test('uses control plane, key and storage of its policy, also if that is deleted meanwhile', async () => {
    await world.tenant();
    await world.policy();
    await world.settle();
    const backup = await world.backup({ source: undefined, policyName: 'hourly' });
    await world.settle();
    await world.cluster.admin.delete(backupPolicy, { namespace: 'tenants', name: 'hourly' });
    await world.report(tenantBackup, 'once', taken);
    await world.jobEnds('backup', backup);
    await world.settle();
    expect((await world.read(tenantBackup, 'once')).status).toMatchObject({ phase: 'Completed', source: shopSource });
  });

  test.each([
    ['its policy', { source: undefined, policyName: 'hourly' }, 'PolicyNotFound'],
    ['its control plane', { source: { ...shopSource, tenantControlPlaneName: 'other' } }, 'TenantControlPlaneNotFound'],
    [
      'the permission for its claim',
      { source: { ...shopSource, storage: { persistentVolumeClaim: { claimName: 'etcd-0' } } } },
      'StorageNotAllowed',
    ],
  ])('waits for %s', async (_what, spec, reason) => {
    await world.tenant();
    const backup = await world.backup(spec);
    await world.settle();
    expect(await complete()).toBe(`False ${reason}`);
    expect(await world.jobOf('backup', backup)).toBeUndefined();
  });
});

describe('A TenantBackup that is deleted', () => {
  const end = async (): Promise<void> => {
    await world.cluster.admin.delete(tenantBackup, key);
    await world.settle();
  };

  test('leaves the backup by default', async () => {
    await world.tenant();
    const backup = await world.backup();
    await world.settle();
    await end();
    expect(await world.cluster.admin.get(tenantBackup, key)).toBeUndefined();
    expect(await world.jobOf('backup', backup)).toBeUndefined();
    expect(await world.jobOf('removal', backup)).toBeUndefined();
  });

  test('removes its own folder with deletionPolicy Delete', async () => {
    await world.tenant();
    const backup = await world.backup({ deletionPolicy: 'Delete' });
    await world.settle();
    await end();
    const args = (await world.jobOf('removal', backup))?.spec?.template.spec?.containers[0]?.args;
    expect(args).toEqual(expect.arrayContaining(['--remove', `--folder=once/${backup.metadata.uid}`]));
    expect(await world.condition(tenantBackup, 'once', 'Deleting')).toBe('True RemovingBackups');
    await world.jobEnds('removal', backup);
    await world.settle();
    expect(await world.cluster.admin.get(tenantBackup, key)).toBeUndefined();
  });

  test('removes nothing if it is one of a policy, whose retention decides', async () => {
    await world.tenant();
    await world.policy();
    await world.settle();
    await world.report(backupPolicy, 'hourly', reportOf(1));
    await world.settle();
    const [backup] = (await world.cluster.admin.list(tenantBackup)).items;
    const name = { namespace: 'tenants', name: backup?.metadata.name ?? '' };
    const body = { spec: { deletionPolicy: 'Delete' } };
    await world.cluster.admin.patch(tenantBackup, name, { type: 'merge', body });
    await world.cluster.admin.delete(tenantBackup, name);
    await world.settle();
    expect((await world.cluster.admin.list(kinds.Job)).items).toEqual([]);
  });
});

describe('A manager that dies', () => {
  test('after any call takes one backup', async () => {
    const begin = async (): Promise<BackupKindsWorld> => {
      world = new BackupKindsWorld();
      await world.tenant();
      await world.backup();
      return world;
    };
    const model = await begin();
    await model.settle();
    const calls = model.cluster.calls.length;
    for (const call of crashPoints(calls, 'tenant backup')) {
      const mortal = await begin();
      mortal.cluster.crashAfter(call, { losesAnswer: true });
      await mortal.settle();
      mortal.restart();
      await mortal.settle();
      const backup = await mortal.read(tenantBackup, 'once');
      await mortal.report(tenantBackup, 'once', taken);
      await mortal.jobEnds('backup', backup);
      await mortal.settle();
      expect({ call, done: await complete() }).toEqual({ call, done: 'True Completed' });
      const created = mortal.cluster.calls.filter(({ verb, kind }) => verb === 'create' && kind?.kind === 'Job');
      expect(created.length).toBeLessThanOrEqual(2);
    }
  });
});
