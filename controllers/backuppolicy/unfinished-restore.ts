import type { TenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';

/**
 * The restore that has left the data of a control plane between two states: it failed after it had begun to write, and no later
 * one has completed. `restores` are those of one name; one that ended before `created` wrote to a control plane that is gone.
 */
export function unfinishedRestore(restores: readonly TenantRestore[], created = ''): TenantRestore | undefined {
  // They run one at a time, but not in the order in which they were created.
  const last = restores
    .filter(({ status }) => status?.phase === 'Completed' || (status?.phase === 'Failed' && isHalfDone(status)))
    .toSorted((a, b) => (endOf(a) < endOf(b) ? -1 : 1))
    .at(-1);
  return last?.status?.phase === 'Failed' && endOf(last) >= created ? last : undefined;
}

/** The time in whole seconds, as that of a creation. */
function endOf({ metadata, status }: TenantRestore): string {
  const type = status?.phase === 'Completed' ? 'Complete' : 'Failed';
  const ended = status?.conditions?.find((one) => one.type === type && one.status === 'True');
  return ended?.lastTransitionTime ?? metadata.creationTimestamp ?? '';
}

/** A process reports the backup before it writes, and the number of keys when everything is written and compared. */
const isHalfDone = ({ process }: NonNullable<TenantRestore['status']>): boolean =>
  process?.backupTime !== undefined && process.keys === undefined;
