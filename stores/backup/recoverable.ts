import { folders } from './backup-record.ts';
import type { BackupRecord } from './backup-record.ts';
import { decodeSegment } from './change-segment.ts';
import { readBackups } from './kept-backups.ts';
import type { SealedFolder } from './sealed-folder.ts';

/** A backup that is kept, and up to which moment it can be restored. */
export interface RecoverableBackup extends Pick<BackupRecord, 'at' | 'revision' | 'keys' | 'bytes' | 'run'> {
  /** Every moment from `at` up to this one can be restored; absent when no changes were saved after the backup. */
  readonly changesUntil?: string;
}

/** What can be restored, oldest first: changes are saved from a backup up to the next one of the same run. Throws `RepositoryError`. */
export async function recoverable(folder: SealedFolder): Promise<readonly RecoverableBackup[]> {
  const records = await readBackups(folder);
  const found: RecoverableBackup[] = [];
  for (const [index, { at, revision, keys, bytes, run }] of records.entries()) {
    const next = records[index + 1];
    const changesUntil = next?.run === run ? next.at : await lastMoment(folder, run);
    const isLater = changesUntil !== undefined && changesUntil > at;
    found.push({ at, revision, keys, bytes, run, ...(isLater && { changesUntil }) });
  }
  return found;
}

/** The moment of the last change that was saved in a run. */
async function lastMoment(folder: SealedFolder, run: string): Promise<string | undefined> {
  const last = (await folder.list(`${folders.changes}${run}/`)).at(-1);
  return last === undefined ? undefined : decodeSegment(last, await folder.read(last)).rounds.at(-1)?.at;
}
