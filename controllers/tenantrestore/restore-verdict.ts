import type { ReasonOf } from '../../api/conditions.ts';
import type { TenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';

/** Whether a restore may begin, by its target. */
export type RestoreVerdict =
  | { readonly is: 'ready' }
  /** It has to be put to sleep, which the spec permits. */
  | { readonly is: 'sleepy' }
  /** Somebody has to do something, or something ends by itself. */
  | { readonly is: 'waiting'; readonly reason: ReasonOf<'TenantRestore', 'Complete'>; readonly message: string }
  /** Waiting would be dangerous: it might begin at a time when nobody expects it any more. */
  | { readonly is: 'failed'; readonly reason: ReasonOf<'TenantRestore', 'Failed'>; readonly message: string };

/** Whether a restore may begin. `tcp` is the target, undefined if it does not exist; `original` is the name of what was backed up. */
export function restoreVerdict(
  { spec }: TenantRestore,
  original: string,
  tcp: TenantControlPlane | undefined,
): RestoreVerdict {
  const { type, tenantControlPlaneName: target, sleep } = spec;
  if ((type === 'Clone') === (target === original)) {
    const message =
      type === 'Clone'
        ? `spec.type: Clone needs a name other than ${original}, the control plane that was backed up`
        : `spec.tenantControlPlaneName: ${target} is not ${original}, which was backed up; use type Clone`;
    return { is: 'failed', reason: 'InvalidSpec', message };
  }
  if (tcp?.metadata.deletionTimestamp !== undefined) {
    const message = `waiting for TenantControlPlane ${target} to be deleted`;
    return { is: 'waiting', reason: 'WaitingForProcesses', message };
  }
  if (type === 'Recreate') {
    if (tcp === undefined) return { is: 'ready' };
    const message = `TenantControlPlane ${target} exists: use type InPlace, or delete it first`;
    return { is: 'failed', reason: 'TenantControlPlaneExists', message };
  }
  if (tcp === undefined) {
    if (type === 'Clone') {
      const message = `create the TenantControlPlane ${target} with 0 replicas`;
      return { is: 'waiting', reason: 'TenantControlPlaneNotFound', message };
    }
    const message = `TenantControlPlane ${target} does not exist: use type Recreate`;
    return { is: 'failed', reason: 'TenantControlPlaneNotFound', message };
  }
  if (tcp.spec.controlPlane.deployment.replicas === 0) return { is: 'ready' };
  const parent = tcp.metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (parent !== undefined) {
    const message = `TenantControlPlane ${target} is in use, and ${parent.kind} ${parent.name} sets its replicas: put that to sleep first`;
    return { is: 'waiting', reason: 'WaitingForSleep', message };
  }
  if (sleep) return { is: 'sleepy' };
  const message = `TenantControlPlane ${target} is in use: put it to sleep, with kubectl steward sleep or 0 replicas, or create another TenantRestore with sleep: true`;
  return { is: 'waiting', reason: 'WaitingForSleep', message };
}
