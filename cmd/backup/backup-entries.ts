import { mostKept } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import type { BackupEntry } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import type { RecoverableBackup } from '../../stores/backup/recoverable.ts';

/** What a policy says about each backup, oldest first. */
export function entriesOf(backups: readonly RecoverableBackup[]): readonly BackupEntry[] {
  return backups.slice(-mostKept).map(({ at, revision, keys, bytes, changesUntil }) => {
    return { time: at, revision, keys, bytes, ...(changesUntil !== undefined && { changesUntil }) };
  });
}
