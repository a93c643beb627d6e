import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { awaitedRestore, identityMarkOf } from '../../../api/steward/v1alpha1/backup/restore-mark.ts';
import type { RestoreMark } from '../../../api/steward/v1alpha1/backup/restore-mark.ts';
import type { TenantRestore } from '../../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/**
 * How far the restore is that a StewardControlPlane requests. `awaited`: nothing may run yet; `otherMark` is of a restore that is not its
 * own. `complete`: it was, but that is not on record here yet. `recorded`: it never happens again. `unasked`: the TenantControlPlane is
 * not one that waits, and is left as it is.
 */
export type RestoreState =
  | { readonly is: 'none' }
  | { readonly is: 'awaited'; readonly otherMark?: RestoreMark }
  | { readonly is: 'complete'; readonly upTo: string }
  | { readonly is: 'recorded' }
  | { readonly is: 'unasked' };

/** The name of the TenantRestore of a StewardControlPlane. */
export const restoreName = ({ metadata }: Pick<StewardControlPlane, 'metadata'>): string => `${metadata.name}-restore`;

/**
 * Decides by what cannot be lost together with the data: the mark that the restore leaves on the TenantControlPlane, which is written only
 * there, and the record in the status. A TenantControlPlane waits for a restore from its creation on, or never: one that exists without
 * waiting may have data, whatever was lost of the status. `existing` is the TenantControlPlane, or what is retained of the former one;
 * `own` is the TenantRestore that belongs to the StewardControlPlane: until it is complete, nothing has served.
 */
export function restoreState(
  { spec, status }: Pick<StewardControlPlane, 'spec' | 'status'>,
  existing: TenantControlPlane | undefined,
  own?: TenantRestore,
): RestoreState {
  // The field can be removed afterwards. Where it was removed before, what has begun still counts.
  if (spec.restoreFrom === undefined && status?.restore === undefined) return { is: 'none' };
  if (status?.restore?.completionTime !== undefined) return { is: 'recorded' };
  const mark = existing && identityMarkOf(existing);
  if (mark !== undefined && isOwn(mark, status, own)) return { is: 'complete', upTo: mark.upTo };
  // Pods start only once the restore is on record.
  if (status?.initialization?.controlPlaneInitialized === true) return { is: 'unasked' };
  if (mark !== undefined) return { is: 'awaited', otherMark: mark };
  const waits = existing === undefined || awaitedRestore(existing) !== undefined || isBegun(status, own);
  return { is: waits ? 'awaited' : 'unasked' };
}

const isBegun = (status: StewardControlPlane['status'], own: TenantRestore | undefined): boolean =>
  status?.restore !== undefined || (own !== undefined && own.status?.phase !== 'Completed');

/** Where the status is lost together with the TenantRestore, the UID of the TenantControlPlane in the mark is enough. */
function isOwn({ task }: RestoreMark, status: StewardControlPlane['status'], own: TenantRestore | undefined): boolean {
  const tasks = [own?.metadata.uid, status?.restore?.uid].filter((uid) => uid !== undefined);
  return tasks.length === 0 || tasks.includes(task);
}
