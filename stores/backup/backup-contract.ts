import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../runtime/clock.ts';
import { BusyTenant, lostWrites } from '../contract/busy-tenant.ts';
import { contentOf, manyPuts } from '../contract/data-content.ts';
import { RegisterClients } from '../contract/linearizability/register-clients.ts';
import { reportRegisters } from '../contract/linearizability/report-registers.ts';
import type { DataTenant, DataUnderTest } from '../contract/tenancy-data-contract.ts';
import { BackupKey } from './backup-key.ts';
import type { BackupRepository } from './backup-repository.ts';
import { followChanges } from './follow-changes.ts';
import { FolderRepository } from './folder-repository.ts';
import { lastRevision } from './kept-backups.ts';
import { chooseBackup, restoreBackup } from './restore-backup.ts';
import type { RestoredBackup } from './restore-backup.ts';
import { SealedFolder } from './sealed-folder.ts';
import { takeBackup } from './take-backup.ts';

const objects = 10_000;

const never = new AbortController().signal;

/** Where the backups of a test are. */
export interface RepositoryForBackup extends AsyncDisposable {
  readonly repository: BackupRepository;
}

async function folderForBackup(): Promise<RepositoryForBackup> {
  const root = await mkdtemp(join(tmpdir(), 'steward-backup-'));
  return {
    repository: new FolderRepository(root),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

/**
 * A real tenancy that is backed up while it is written to, lost, and restored into another one of the same server. The backups are in a
 * folder unless another place is given.
 */
export function describeBackup(
  title: string,
  start: () => Promise<DataUnderTest>,
  place: () => Promise<RepositoryForBackup> = folderForBackup,
): void {
  describe(`a backup of a tenancy in ${title}`, () => {
    let store: DataUnderTest | undefined;
    let backups: RepositoryForBackup | undefined;
    beforeAll(async () => {
      backups = await place();
      store = await start();
    }, 180_000);
    afterAll(async () => {
      await store?.[Symbol.asyncDispose]();
      await backups?.[Symbol.asyncDispose]();
    });
    const repository = (): BackupRepository => {
      if (backups === undefined) throw new Error('the place of the backups was not made');
      return backups.repository;
    };
    const tenant = async (): Promise<DataTenant> => {
      if (store === undefined) throw new Error(`${title} was not started`);
      return store.tenant();
    };

    test(`restores ${objects} objects and every change that was followed, and a chosen moment exactly`, async () => {
      const folder = new SealedFolder(
        repository(),
        'tenants/shop',
        new BackupKey(Buffer.alloc(32, 5).toString('base64')),
      );
      const lost = await tenant();
      await using other = await lost.anotherHand();
      await lost.data.beginWrites();
      await lost.data.write(manyPuts(objects, 'pods/default/pod-', 'x'.repeat(2000)));
      const first = new BusyTenant(lost.hand);
      const clientsOf = (name: string): RegisterClients => new RegisterClients([lost.hand, other], lost, { name });
      await using before = clientsOf('before');
      while (first.writes < 100) await delay(50);
      const begun = performance.now();
      const taken = await takeBackup({
        data: lost.data,
        folder,
        clock: systemClock,
        objects: [],
        store: 'first',
        run: 'run',
        signal: never,
      });
      const tookMs = performance.now() - begun;
      const follow = { data: lost.data, folder, clock: systemClock, run: 'run' };
      const killed = new AbortController();
      const following = followChanges({ ...follow, signal: killed.signal }, BigInt(taken.record.revision));
      following.catch(() => undefined);
      /** Waits until the repository has all that was written, and says how long that took. */
      const caughtUp = async (): Promise<number> => {
        const since = performance.now();
        const revision = await lost.data.revision();
        while ((await lastRevision(folder, taken.record)) < revision) await delay(100);
        return performance.now() - since;
      };
      while (first.writes < 400) await delay(50);
      await first.end();
      await before.end();
      await caughtUp();
      const chosen = { at: new Date(), content: await contentOf(lost.data) };
      const second = new BusyTenant(lost.hand);
      await using after = clientsOf('after');
      while (second.writes < 300) await delay(50);
      await second.end();
      await after.end();
      const promised = second.promised();
      const content = await contentOf(lost.data);
      const rpoMs = await caughtUp();
      // From here on the process and the tenancy are gone: only the content of the repository is left.
      await using target = await tenant();
      const report = async (moment: Date | undefined): Promise<RestoredBackup> => {
        const since = performance.now();
        const restored = await restoreBackup(
          { target: target.data, store: 'first', folder, signal: never },
          await chooseBackup(folder, moment),
          moment,
        );
        const seconds = (performance.now() - since) / 1000;
        process.stderr.write(
          `backup in ${title}: ${taken.record.keys} keys, ${(taken.record.bytes / 2 ** 20).toFixed(1)} MiB in ${(tookMs / 1000).toFixed(1)} s ` +
            `(${(taken.writtenBytes / 2 ** 20).toFixed(1)} MiB written); followed within ${(rpoMs / 1000).toFixed(1)} s; restored ${restored.keys} keys with ${restored.changes} changes in ${seconds.toFixed(1)} s\n`,
        );
        return restored;
      };
      const files = (await folder.list('changes/')).length;
      await report(undefined);
      expect([...(await contentOf(target.data))]).toEqual([...content]);
      expect(lostWrites(promised, await contentOf(target.data))).toEqual([]);
      expect(await target.data.revision()).toBeGreaterThanOrEqual(await lost.data.revision());
      await after.observe(() => contentOf(target.data));
      reportRegisters(`backup in ${title}, all changes restored`, after);
      await report(chosen.at);
      expect([...(await contentOf(target.data))]).toEqual([...chosen.content]);
      await before.observe(() => contentOf(target.data));
      reportRegisters(`backup in ${title}, a moment restored`, before);
      // Nothing was written by the process after the loss.
      expect((await folder.list('changes/')).length).toBe(files);
      await using hand = await target.anotherHand();
      await hand.put('pods/after', Buffer.from('x'));
      killed.abort();
      await following;
      await lost[Symbol.asyncDispose]();
    }, 400_000);
  });
}
