import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';

/** A new control plane cannot start from a backup where no manager restores any. One that exists waits, and says so. */
export function validateRestore(
  { spec }: StewardControlPlane,
  old: StewardControlPlane | undefined,
  backups: boolean,
): readonly InvalidInput[] {
  if (backups || old !== undefined || spec.restoreFrom === undefined) return [];
  const reason = 'requires the feature gate Backups, which is disabled';
  const remedy =
    "ask the operator to set the manager's flag --feature-gates to Backups=true, or remove the field to start without data";
  return [{ field: 'spec.restoreFrom', reason, remedy }];
}

/**
 * The field can be removed, as a topology does whose variable is removed, once it has no effect anymore: what is restored is on record,
 * or the control plane has served without it.
 */
export function validateRestoreRemoval(
  { spec }: StewardControlPlane,
  old: StewardControlPlane | undefined,
): readonly InvalidInput[] {
  if (spec.restoreFrom !== undefined || old?.spec.restoreFrom === undefined) return [];
  const { restore, initialization } = old.status ?? {};
  if (restore?.completionTime !== undefined || initialization?.controlPlaneInitialized === true) return [];
  const reason = 'cannot be removed before the backup is restored';
  const remedy = 'wait until the condition Restored is True, or delete the Cluster and create it without the field';
  return [{ field: 'spec.restoreFrom', reason, remedy }];
}
