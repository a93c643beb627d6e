import { folders } from './backup-record.ts';
import { backupNames, readBackup } from './kept-backups.ts';
import type { SealedFolder } from './sealed-folder.ts';

/**
 * Keeps the newest backups and the changes since the oldest of them, and removes everything else: records first, so that no record
 * names what is gone. May be interrupted and repeated. No backup may be taken in this folder meanwhile. Throws `RepositoryError`.
 */
export async function pruneBackups(folder: SealedFolder, keep: number): Promise<{ readonly removed: number }> {
  const names = await backupNames(folder);
  const kept = names.slice(-Math.max(keep, 1));
  const removed = names.slice(0, names.length - kept.length);
  for (const name of removed) await folder.remove(name);
  const used = new Set<string>();
  const runs = new Set<string>();
  for (const name of kept) {
    const record = await readBackup(folder, name);
    runs.add(record.run);
    for (const chunk of record.chunks) used.add(folders.chunks + chunk.name);
  }
  const [oldest = ''] = kept;
  const changes = await folder.list(folders.changes);
  for (const name of endedBefore(changes, oldest.slice(folders.backups.length), runs)) await folder.remove(name);
  for (const name of await folder.list(folders.chunks)) if (!used.has(name)) await folder.remove(name);
  return { removed: removed.length };
}

/**
 * The files of changes that no kept backup needs: those of other runs, and those that were followed by another one before the oldest
 * backup. A file that began before it may contain what came after it.
 */
function endedBefore(names: readonly string[], oldest: string, runs: ReadonlySet<string>): readonly string[] {
  return names.filter((name, index) => {
    const run = runOf(name);
    if (!runs.has(run)) return true;
    const next = names[index + 1];
    return next !== undefined && runOf(next) === run && momentOf(next) <= oldest;
  });
}

const runOf = (name: string): string => name.slice(folders.changes.length).split('/')[0] ?? '';
const momentOf = (name: string): string => (name.split('/').at(-1) ?? '').split('-')[0] ?? '';
