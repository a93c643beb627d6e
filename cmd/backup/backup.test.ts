import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import { annotations } from '../../api/names.ts';
import type { BackupEntry } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { BackupKey } from '../../stores/backup/backup-key.ts';
import { SealedFolder } from '../../stores/backup/sealed-folder.ts';
import { BackupWorld } from '../../testing/worlds/backup-world.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import { put } from '../../testing/builders/put.ts';
import { runBackup } from './run-backup.ts';
import { runRestore } from './run-restore.ts';

const tenant = { namespace: 'default', name: 'tenant' };

describe('steward restore', () => {
  test('creates a lost control plane again with its data, CAs and keys, and wakes it up', async () => {
    const world = await BackupWorld.begin();
    const before = await world.read();
    const authorities = await world.authorities();
    await world.backUp();
    await world.lose();
    expect(world.store.tenancies.size).toBe(0);
    expect(await world.authorities()).toEqual([undefined, undefined, undefined]);
    expect(await world.restore()).toMatchObject({ keys: 1 });
    expect(world.reports.map(({ step }) => step).filter((step) => step !== undefined)).toEqual([
      'Preparing',
      'Restoring',
      'Waking',
      'Restored',
    ]);
    const after = await world.read();
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
    expect(after.spec).toEqual(before.spec);
    expect(after.metadata.annotations?.[annotations.replicasBeforeSleep]).toBeUndefined();
    await world.settle();
    expect(await world.authorities()).toEqual(authorities);
    expect((await world.data()).texts()).toEqual([['pods/a', 'one']]);
    expect(await world.condition('Ready')).toBe('True');
  });

  test('does not create a lost control plane without a Secret that the API server refused with a conflict', async () => {
    const world = await BackupWorld.begin();
    const authorities = await world.authorities();
    await world.backUp();
    await world.lose();
    let refused = 0;
    world.beforeWrite = () => {
      refused += 1;
      const why = 'Operation cannot be fulfilled on resourcequotas "all": the object has been modified';
      if (refused === 1) throw new ApiError(409, 'Conflict', why);
    };
    await expect(world.restore({ id: 'a' })).rejects.toThrow('resourcequotas');
    expect(await world.exists()).toBe(false);
    await world.restore({ id: 'a' });
    await world.settle();
    expect(await world.authorities()).toEqual(authorities);
  });

  test('returns a sleeping control plane to a moment, and leaves its number of pods unless it is recorded', async () => {
    const world = await BackupWorld.begin();
    await world.backUp();
    const data = await world.data();
    data.tenantWrites(put('pods/a', 'two'), put('pods/b', 'later'));
    await world.change({ spec: { controlPlane: { deployment: { replicas: 0 } } } });
    await world.settle();
    await world.restore();
    expect(data.texts()).toEqual([['pods/a', 'one']]);
    expect(world.replicas(await world.read())).toBe(0);
    const body = { metadata: { annotations: { [annotations.replicasBeforeSleep]: '3' } } };
    await world.cluster.admin.patch(tenantControlPlane, tenant, { type: 'merge', body });
    await world.restore();
    expect(world.replicas(await world.read())).toBe(3);
  });

  test('refuses a control plane that is in use, and changes nothing', async () => {
    const world = await BackupWorld.begin();
    await world.backUp();
    const data = await world.data();
    data.tenantWrites(put('pods/b', 'later'));
    await expect(world.restore()).rejects.toThrow('default/tenant is in use: to restore it, put it to sleep first');
    expect(data.texts()).toHaveLength(2);
    expect(data.fenced).toBe(false);
  });

  test('refuses a control plane that is being deleted: nothing may be written once its data is removed', async () => {
    const world = await BackupWorld.begin();
    await world.backUp();
    await world.change({ spec: { controlPlane: { deployment: { replicas: 0 } } } });
    await world.settle();
    const data = await world.data();
    data.tenantWrites(put('pods/b', 'later'));
    await world.cluster.admin.delete(tenantControlPlane, tenant);
    const task = { tenant, timeoutMs: 60_000 };
    await expect(runRestore(task, world.parts())).rejects.toThrow('default/tenant is being deleted');
    expect(data.texts()).toHaveLength(2);
  });

  test('waits for pods that are terminating, and reports it when they do not end', async () => {
    const world = await BackupWorld.begin();
    await world.backUp();
    world.podsStop = false;
    await world.change({ spec: { controlPlane: { deployment: { replicas: 0 } } } });
    await world.settle();
    await expect(world.restore()).rejects.toThrow('waited 60 s for the pods of default/tenant to end');
    await world.finishPods();
    await expect(world.restore()).resolves.toMatchObject({ keys: 1 });
  });

  test('restores the Secrets, and says what to do, where another object makes the control plane', async () => {
    const world = await BackupWorld.begin();
    const controller = { apiVersion: 'a/v1', kind: 'StewardControlPlane', name: 'a', uid: 'a', controller: true };
    const body = { metadata: { ownerReferences: [controller] } };
    await world.cluster.admin.patch(tenantControlPlane, tenant, { type: 'merge', body });
    const authorities = await world.authorities();
    await world.backUp();
    await world.lose();
    await expect(world.restore()).rejects.toThrow('create that object with 0 replicas, then restore in place');
    expect(await world.authorities()).toEqual(authorities);
  });

  test('does not take a new control plane of another name for the lost one', async () => {
    const world = await BackupWorld.begin();
    await world.backUp();
    const other = { namespace: 'default', name: 'other' };
    await expect(world.restore({ tenant: other })).rejects.toThrow(
      'default/other does not exist, and the backup is of tenant',
    );
  });

  test('fills a clone from the backup of a control plane that Cluster API had made, whose CAs and keys the clone does not get', async () => {
    const world = await BackupWorld.begin();
    await world.backUp();
    await world.backupsAreOf('shop');
    await world.change({ spec: { controlPlane: { deployment: { replicas: 0 } } } });
    (await world.data()).tenantWrites(put('pods/b', 'own'));
    await world.settle();
    const authorities = await world.authorities();
    await world.restore({ original: 'shop' });
    expect((await world.data()).texts()).toEqual([['pods/a', 'one']]);
    expect(await world.authorities()).toEqual(authorities);
  });

  // Three Secrets, the TenantControlPlane, and its number of pods.
  test.each(
    [1, 2, 3, 4, 5].flatMap((call) => [
      { call, moment: 'before' },
      { call, moment: 'after' },
    ]),
  )('converges when its process dies $moment write $call of 5', async ({ call, moment }) => {
    const world = await BackupWorld.begin();
    const authorities = await world.authorities();
    await world.backUp();
    await world.lose();
    let calls = 0;
    const die = (): void => {
      calls += 1;
      if (calls === call) throw new Error('died');
    };
    if (moment === 'before') world.beforeWrite = die;
    else world.afterWrite = die;
    await expect(world.restore({ id: 'a' })).rejects.toThrow('died');
    await world.restore({ id: 'a' });
    await world.reconcile();
    expect(calls).toBeGreaterThanOrEqual(call);
    expect(world.reports.at(-1)).toMatchObject({ step: 'Restored', restoredTime: expect.any(String), problem: null });
    expect((await world.data()).texts()).toEqual([['pods/a', 'one']]);
    expect(await world.authorities()).toEqual(authorities);
    expect(world.replicas(await world.read())).toBe(2);
  });

  test('treats a repetition of its own task as complete, and refuses any other, once the control plane is in use again', async () => {
    const world = await BackupWorld.begin();
    await world.backUp();
    await world.lose();
    const upTo = (await world.restore({ id: 'a' }))?.upTo ?? '';
    await world.settle();
    (await world.data()).tenantWrites(put('pods/b', 'later'));
    expect(await world.restore({ id: 'a' })).toBeUndefined();
    const refusal = `default/tenant is in use and was last restored as of ${upTo}: to restore it, put it to sleep first`;
    await expect(world.restore({ id: 'b' })).rejects.toThrow(refusal);
    await expect(world.restore()).rejects.toThrow(refusal);
    expect((await world.data()).texts()).toHaveLength(2);
  });

  test('by a command reports that the control plane was restored when only the answer was lost', async () => {
    const world = await BackupWorld.begin();
    await world.backUp();
    await world.lose();
    await world.restore();
    await expect(world.restore()).rejects.toThrow('is in use and was last restored as of 2030-');
  });
});

describe('steward backup', () => {
  test('saves all changes while it follows, and takes a backup after each interval', async () => {
    const world = await BackupWorld.begin();
    const data = await world.data();
    const running = world.backUp({ follow: { interval: '1h' } });
    for (let minute = 0; minute < 125; minute += 1) {
      if (minute % 7 === 0) data.tenantWrites(put('pods/a', `minute ${minute}`));
      await world.clock.advance(60_000);
    }
    expect(await world.parts().folder.list('backups/')).toHaveLength(3);
    data.tenantWrites(put('pods/last', 'x'));
    world.stop.abort();
    await running;
    await world.lose();
    const restored = await world.restore();
    expect(restored?.changes).toBeGreaterThan(0);
    expect((await world.data()).texts()).toEqual([
      ['pods/a', 'minute 119'],
      ['pods/last', 'x'],
    ]);
  });

  test('reports the backups that it keeps and up to when all changes are saved, and none of it twice a minute', async () => {
    const world = await BackupWorld.begin();
    const data = await world.data();
    const running = world.backUp({ follow: { interval: '5m' }, keep: 2 });
    await world.clock.advance(4.5 * 60_000);
    const [first, ...more] = world.reports;
    expect(first).toMatchObject({ backups: [{ keys: 1 }], problem: null });
    expect(more.length).toBeGreaterThanOrEqual(3);
    expect(more.length).toBeLessThanOrEqual(4);
    expect(Date.parse(String(more.at(-1)?.changesUntil))).toBeGreaterThan(Date.parse('2030-01-01T00:03:00Z'));
    data.tenantWrites(put('pods/a', 'two'));
    await world.clock.advance(60_000);
    world.stop.abort();
    await running;
    const last = world.reports.findLast(({ backups }) => backups !== undefined)?.backups as readonly BackupEntry[];
    expect(last).toHaveLength(2);
    expect(last[0]?.changesUntil).toBe(last[1]?.time);
  });

  test('takes backups at the moments of a schedule', async () => {
    const world = await BackupWorld.begin();
    const running = world.backUp({ follow: { schedule: '*/5 * * * *' }, keep: 9 });
    await world.clock.advance(12 * 60_000);
    world.stop.abort();
    await running;
    const [first, ...scheduled] = await world.parts().folder.list('backups/');
    expect(first).toMatch(/T000\d/);
    expect(scheduled.map((name) => name.slice('backups/20300101T'.length))).toEqual(
      expect.arrayContaining([expect.stringMatching(/^0005/), expect.stringMatching(/^0010/)]),
    );
    expect(scheduled.length).toBeLessThanOrEqual(2);
  });

  test('that is taken once reports itself, and is not taken again if only the report was lost', async () => {
    const world = await BackupWorld.begin();
    await world.backUp({ resumes: true });
    await world.clock.advance(60_000);
    await world.backUp({ resumes: true });
    expect(await world.parts().folder.list('backups/')).toHaveLength(1);
    expect(world.reports).toHaveLength(2);
    expect(world.reports[1]).toEqual(world.reports[0]);
    expect(world.reports[0]).toMatchObject({ keys: 1, problem: null });
  });

  test('refuses a folder whose backups have another key, and writes nothing', async () => {
    const world = await BackupWorld.begin();
    await world.backUp();
    const files = [...world.repository.files.keys()];
    const folder = new SealedFolder(
      world.repository,
      'default/tenant',
      new BackupKey(Buffer.alloc(32, 4).toString('base64')),
    );
    const other = runBackup({ tenant, keep: 3 }, { ...world.parts(), folder });
    await expect(other).rejects.toThrow('the key is another one');
    expect([...world.repository.files.keys()]).toEqual(files);
  });

  test('keeps no more backups than configured', async () => {
    const world = await BackupWorld.begin();
    for (let times = 0; times < 5; times += 1) {
      await world.clock.advance(1000);
      await world.backUp({ keep: 2 });
    }
    expect(await world.parts().folder.list('backups/')).toHaveLength(2);
  });

  test('writes no secret in plain text', async () => {
    const world = await BackupWorld.begin();
    await world.backUp();
    for (const [name, content] of world.repository.files) {
      expect(`${name} ${Buffer.from(content).toString('latin1')}`).not.toMatch(/PRIVATE KEY|pods\/a/);
    }
  });

  test('refuses a control plane that does not exist or has no data', async () => {
    const world = new BackupWorld();
    await expect(world.backUp()).rejects.toThrow('TenantControlPlane default/tenant does not exist');
    await world.create();
    await expect(world.backUp()).rejects.toThrow('default/tenant has no data yet');
  });

  test('does not save that the data of a deleted control plane is removed', async () => {
    const world = await BackupWorld.begin();
    const running = world.backUp({ follow: { interval: '1h' } });
    running.catch(() => undefined);
    await world.clock.advance(20_000);
    (await world.data()).tenantWrites(put('pods/b', 'two'));
    await world.clock.advance(20_000);
    await world.lose();
    await world.clock.advance(20_000);
    await expect(running).rejects.toThrow('default/tenant');
    await world.restore();
    expect((await world.data()).texts()).toEqual([
      ['pods/a', 'one'],
      ['pods/b', 'two'],
    ]);
  });

  test('ends when the data is migrated, so that its successor reads the new place', async () => {
    const world = await BackupWorld.begin();
    const running = world.backUp({ follow: { interval: '1h' } });
    running.catch(() => undefined);
    await world.clock.advance(20_000);
    await world.moveTo('other');
    await world.reconcile();
    await world.clock.advance(20_000);
    await expect(running).rejects.toThrow('is being migrated');
  });
});

describe('the keys of encrypted data', () => {
  const name = 'tenant-encryption';
  const key = { namespace: 'default', name };

  async function withKeys(world: BackupWorld, value: string): Promise<void> {
    await world.cluster.admin.delete(kinds.Secret, key);
    const data = { 'state.json': Buffer.from(value).toString('base64') };
    await world.cluster.seed(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata: key, data });
  }

  async function keysNow(world: BackupWorld): Promise<string> {
    const secret = await world.cluster.admin.get(kinds.Secret, key);
    return Buffer.from(secret?.data?.['state.json'] ?? '', 'base64').toString();
  }

  test('are backed up as soon as they change', async () => {
    const world = await BackupWorld.begin();
    const running = world.backUp({ follow: { interval: '1h' } });
    await world.clock.advance(20_000);
    expect(await world.parts().folder.list('backups/')).toHaveLength(1);
    await withKeys(world, 'first');
    await world.clock.advance(20_000);
    expect(await world.parts().folder.list('backups/')).toHaveLength(2);
    world.stop.abort();
    await running;
  });

  test('are those of the backup after a restore in place', async () => {
    const world = await BackupWorld.begin();
    await withKeys(world, 'first');
    await world.backUp();
    await withKeys(world, 'second');
    await world.change({ spec: { controlPlane: { deployment: { replicas: 0 } } } });
    world.podsStop = true;
    await world.cluster.admin.patch(tenantControlPlane, tenant, { type: 'merge', body: {} });
    for (let turn = 0; turn < 5; turn += 1) await world.reconcile();
    await world.restore();
    expect(await keysNow(world)).toBe('first');
  });

  test('are not mixed: a control plane that encrypts only now is refused', async () => {
    const world = await BackupWorld.begin();
    await world.backUp();
    await world.change({ spec: { controlPlane: { deployment: { replicas: 0 } } } });
    await world.settle();
    await withKeys(world, 'later');
    await expect(world.restore()).rejects.toThrow('switch encryption off first');
    expect((await world.data()).fenced).toBe(false);
  });
});
