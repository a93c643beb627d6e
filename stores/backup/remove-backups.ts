import { folders } from './backup-record.ts';
import type { BackupRepository } from './backup-repository.ts';

/**
 * Removes all backups of a folder, records first, so that an interrupted removal leaves no record that names what is gone. Needs no key.
 * Throws `RepositoryError`.
 */
export async function removeBackups(
  repository: BackupRepository,
  folder: string,
): Promise<{ readonly removed: number }> {
  let removed = 0;
  for (const part of [folders.backups, folders.changes, folders.chunks]) {
    for (const name of await repository.list(`${folder}/${part}`)) {
      await repository.remove(name);
      removed += 1;
    }
  }
  return { removed };
}
