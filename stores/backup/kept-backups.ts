import { folders, parseBackup } from './backup-record.ts';
import type { BackupRecord } from './backup-record.ts';
import { decodeSegment } from './change-segment.ts';
import type { SealedFolder } from './sealed-folder.ts';

/** The names of all backups, oldest first. */
export function backupNames(folder: SealedFolder): Promise<readonly string[]> {
  return folder.list(folders.backups);
}

/** Reads one backup. Throws `RepositoryError`. */
export async function readBackup(folder: SealedFolder, name: string): Promise<BackupRecord> {
  return parseBackup(name, await folder.read(name));
}

/** Every backup, oldest first. Throws `RepositoryError`. */
export async function readBackups(folder: SealedFolder): Promise<readonly BackupRecord[]> {
  const records: BackupRecord[] = [];
  for (const name of await backupNames(folder)) records.push(await readBackup(folder, name));
  return records;
}

/** The greatest revision that the repository knows of, of the run of a backup. Throws `RepositoryError`. */
export async function lastRevision(folder: SealedFolder, record: BackupRecord): Promise<bigint> {
  const last = (await folder.list(`${folders.changes}${record.run}/`)).at(-1);
  const known = [BigInt(record.revision)];
  for (const { revision, run } of await readBackups(folder)) if (run === record.run) known.push(BigInt(revision));
  if (last !== undefined) {
    for (const { revision } of decodeSegment(last, await folder.read(last)).rounds) known.push(revision);
  }
  return known.reduce((left, right) => (left > right ? left : right));
}
