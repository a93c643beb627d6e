import { BackupKey } from '../../stores/backup/backup-key.ts';
import { followChanges } from '../../stores/backup/follow-changes.ts';
import { chooseBackup, restoreBackup } from '../../stores/backup/restore-backup.ts';
import type { RestoredBackup } from '../../stores/backup/restore-backup.ts';
import { SealedFolder } from '../../stores/backup/sealed-folder.ts';
import { takeBackup } from '../../stores/backup/take-backup.ts';
import type { TakenBackup } from '../../stores/backup/take-backup.ts';
import { FakeClock } from '../fake/fake-clock.ts';
import { MemoryRepository } from '../fake/memory-repository.ts';
import { MemoryTenancy } from '../fake/memory-tenancy.ts';
import { put } from '../builders/put.ts';

/** A tenancy in memory with some keys, a repository, and an empty tenancy to restore to. */
export class BackedUpTenancy {
  readonly source = new MemoryTenancy();
  readonly target = new MemoryTenancy();
  readonly clock = new FakeClock();
  readonly repository = new MemoryRepository();
  readonly folder: SealedFolder;
  /** The content after each write, with the time. */
  readonly history: { readonly at: number; readonly texts: readonly (readonly [string, string])[] }[] = [];
  readonly #never = new AbortController().signal;
  #following: { readonly stop: AbortController; readonly ended: Promise<bigint> } | undefined;

  constructor() {
    this.folder = new SealedFolder(
      this.repository,
      'tenants/shop',
      new BackupKey(Buffer.alloc(32, 1).toString('base64')),
    );
    for (let index = 0; index < 10; index += 1) this.source.tenantWrites(put(`pods/${index}`, `first ${index}`));
    this.#remember();
  }

  /** The tenant writes at this moment, or deletes where there is no value. */
  write(key: string, value: string | undefined): void {
    this.source.tenantWrites(value === undefined ? { is: 'deleted', key } : put(key, value));
    this.#remember();
  }

  take(run = 'run'): Promise<TakenBackup> {
    const parts = { data: this.source.open(), folder: this.folder, clock: this.clock };
    return takeBackup({ ...parts, objects: [{ kind: 'Secret' }], store: 'first', run, signal: this.#never });
  }

  /** Begins to follow after a backup; `reached` hears up to when all changes are saved. */
  follow({ record }: TakenBackup, reached: (moment: Date) => void = () => undefined): void {
    const stop = new AbortController();
    const parts = { data: this.source.open(), folder: this.folder, clock: this.clock, run: record.run, reached };
    const ended = followChanges({ ...parts, signal: stop.signal }, BigInt(record.revision));
    ended.catch(() => undefined);
    this.#following = { stop, ended };
  }

  /** The process ends as it is asked to. */
  async stopFollowing(): Promise<bigint | undefined> {
    this.#following?.stop.abort();
    return this.#following?.ended;
  }

  async restore(moment?: Date, { store = 'other' } = {}): Promise<RestoredBackup> {
    const record = await chooseBackup(this.folder, moment);
    return restoreBackup(
      { target: this.target.open(), store, folder: this.folder, signal: this.#never },
      record,
      moment,
    );
  }

  /** What there was at a time. */
  textsAt(time: number): readonly (readonly [string, string])[] {
    return this.history.findLast(({ at }) => at <= time)?.texts ?? [];
  }

  #remember(): void {
    this.history.push({ at: this.clock.now().getTime(), texts: this.source.texts() });
  }
}
