import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../../runtime/clock.ts';
import { BackupKey } from '../../backup/backup-key.ts';
import { followChanges } from '../../backup/follow-changes.ts';
import { FolderRepository } from '../../backup/folder-repository.ts';
import { chooseBackup, restoreBackup } from '../../backup/restore-backup.ts';
import { SealedFolder } from '../../backup/sealed-folder.ts';
import { takeBackup } from '../../backup/take-backup.ts';
import type { TakenBackup } from '../../backup/take-backup.ts';
import { migrate } from '../../migration/migrate.ts';
import { moving } from '../../migration/moving-options.ts';
import { StoreError } from '../../store-error.ts';
import { contentOf, manyPuts } from '../data-content.ts';
import { RegisterClients } from '../linearizability/register-clients.ts';
import { reportRegisters } from '../linearizability/report-registers.ts';
import type { DataTenant } from '../tenancy-data-contract.ts';
import type { BreakableStore, BreakableTenant } from './breakable-store.ts';
import { Fault } from './with-fault.ts';
import type { FaultPoint } from './with-fault.ts';

const keys = 1200;

/** A migration from one store to the other in which the leader of one of them is killed. */
export interface MigrationFault {
  readonly from: string;
  readonly to: string;
  readonly leaderOf: string;
  readonly at: FaultPoint;
}

/** What is tried. The stores are those that were started, by their names. */
export interface StoreFaults {
  readonly migrations: readonly MigrationFault[];
  /** Stores whose leader is killed during a backup. */
  readonly backups: readonly string[];
}

/** Loses the leader of a real store in the middle of a migration and of a backup, while several clients share its keys. */
export function describeStoreFaults(
  starts: Readonly<Record<string, () => Promise<BreakableStore>>>,
  { migrations, backups }: StoreFaults,
): void {
  describe('A store that loses its leader', () => {
    const stores = new Map<string, BreakableStore>();
    beforeAll(async () => {
      for (const [name, start] of Object.entries(starts)) stores.set(name, await start());
    }, 180_000);
    afterEach(async () => {
      for (const store of stores.values()) await store.heal();
    }, 120_000);
    afterAll(async () => {
      for (const store of stores.values()) await store[Symbol.asyncDispose]();
    });
    const storeOf = (name: string): BreakableStore => {
      const store = stores.get(name);
      if (store === undefined) throw new Error(`${name} was not started`);
      return store;
    };

    // jest makes a test that fails of an empty table.
    if (migrations.length > 0)
      test.each(migrations)(
        '$leaderOf, in a migration from $from to $to ($at): it is completed, and every key stays linearizable',
        async ({ from, to, leaderOf, at }) => {
          await using source = await storeOf(from).tenant();
          await using target = await storeOf(to).tenant();
          await fill(source);
          await using hands = new AsyncDisposableStack();
          const second = hands.use(await source.anotherHand());
          await using clients = clientsOf(source, [source.hand, second], 'moved');
          await clients.answers(20);
          const victim = leaderOf === from ? source : target;
          const fault = new Fault(at, () => victim.killLeader());
          const open = (tenant: BreakableTenant) => async () => {
            const data = await tenant.anotherData();
            return tenant === victim ? fault.in(data) : data;
          };
          const options = moving(source, target);
          const outcome = await migrate({ ...options, source: open(source), target: open(target) });
          expect(fault.happened).toBe(true);
          expect(outcome).toMatchObject({ is: 'done' });
          // A connection over which the fault was met may be lost.
          await using old = await source.anotherData();
          await using now = await target.anotherData();
          expect([...(await contentOf(now))]).toEqual([...(await contentOf(old))]);
          const moved = [hands.use(await target.anotherHand()), hands.use(await target.anotherHand())];
          clients.moveTo(moved, target);
          await clients.answers(20);
          await clients.end();
          await clients.observe(() => contentOf(now));
          const problems = new Set(options.reports.flatMap(({ problem }) => problem ?? []));
          for (const problem of problems) process.stderr.write(`  ${problem}\n`);
          reportRegisters(`${from} → ${to}, leader of ${leaderOf} killed ${at}`, clients);
        },
        300_000,
      );

    if (backups.length > 0)
      test.each(backups)(
        '%s, during a backup: it fails with a reason or goes on, and what is restored is linearizable',
        async (name) => {
          await using folder = await temporaryFolder();
          await using source = await storeOf(name).tenant();
          await fill(source);
          await using hands = new AsyncDisposableStack();
          const second = hands.use(await source.anotherHand());
          await using clients = clientsOf(source, [source.hand, second], 'saved');
          await clients.answers(20);
          const fault = new Fault('first page', () => source.killLeader());
          const taken = await backUp(source, folder.sealed, fault);
          expect(fault.happened).toBe(true);
          await clients.answers(20);
          await clients.end();
          // Its end is known already: what was written up to now is saved, and it returns.
          await using left = await source.anotherData();
          const follow = { data: left, folder: folder.sealed, clock: systemClock, run: 'run' };
          await followChanges({ ...follow, signal: AbortSignal.abort() }, BigInt(taken.record.revision));
          await storeOf(name).heal();
          await using target = await storeOf(name).tenant();
          await restoreBackup(
            { target: target.data, store: 'store', folder: folder.sealed, signal: new AbortController().signal },
            await chooseBackup(folder.sealed, undefined),
            undefined,
          );
          expect([...(await contentOf(target.data))]).toEqual([...(await contentOf(left))]);
          await clients.observe(() => contentOf(target.data));
          reportRegisters(`backup in ${name}, leader killed while it is read`, clients);
        },
        300_000,
      );
  });
}

async function fill({ data }: DataTenant): Promise<void> {
  await data.beginWrites();
  await data.write(manyPuts(keys, 'pods/default/pod-', 'x'.repeat(2000)));
  await data.endWrites();
}

function clientsOf(tenant: DataTenant, hands: ConstructorParameters<typeof RegisterClients>[0], name: string) {
  return new RegisterClients(hands, tenant, { name, pauseMs: 100, conflicts: 'unknown' });
}

/** As a process does that is started again when it fails. */
async function backUp(source: DataTenant, folder: SealedFolder, fault: Fault): Promise<TakenBackup> {
  for (let tries = 0; ; tries += 1) {
    try {
      await using data = fault.in(await source.anotherData());
      return await takeBackup({
        ...{ data, folder, clock: systemClock, objects: [], store: 'store', run: 'run' },
        signal: new AbortController().signal,
      });
    } catch (error) {
      if (!(error instanceof StoreError) || tries === 20) throw error;
      process.stderr.write(`  the backup: ${error.message}\n`);
      await delay(500);
    }
  }
}

interface TemporaryFolder extends AsyncDisposable {
  readonly sealed: SealedFolder;
}

async function temporaryFolder(): Promise<TemporaryFolder> {
  const root = await mkdtemp(join(tmpdir(), 'steward-faults-'));
  const key = new BackupKey(Buffer.alloc(32, 5).toString('base64'));
  return {
    sealed: new SealedFolder(new FolderRepository(root), 'tenants/shop', key),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}
