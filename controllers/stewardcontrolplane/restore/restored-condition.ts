import { isReasonOf, stateCondition } from '../../../api/conditions.ts';
import type { ReasonOf } from '../../../api/conditions.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { StewardControlPlaneStatus } from '../../../api/controlplane/steward-control-plane-status.ts';
import type { NewCondition } from '../../../runtime/reconcile/conditions.ts';
import { messageOf } from '../../../runtime/reconcile/conditions.ts';
import type { Report } from '../../../runtime/reconcile/phases.ts';
import type { Scope } from '../scope.ts';
import { restoreName } from './restore-state.ts';

type Reason = ReasonOf<'StewardControlPlane', 'Restored'>;

/** What the status says of the restore after a reconcile; empty if it never had `spec.restoreFrom`. */
export function restoredConditions(scp: StewardControlPlane, report: Report<Scope>): readonly NewCondition[] {
  if (scp.spec.restoreFrom === undefined && scp.status?.restore === undefined) return [];
  const upTo = report.scope.restored ?? scp.status?.restore?.restoredTime;
  if (report.scope.restored !== undefined || scp.status?.restore?.completionTime !== undefined) {
    return [stated('True', 'Completed', `restored as of ${upTo ?? 'an unknown moment'}`)];
  }
  if (report.scope.leftUnrestored === true) {
    const message = `the TenantControlPlane ${scp.metadata.name} existed and did not wait for a restore: its data is left as it is`;
    return [stated('False', 'TenantControlPlaneExists', message)];
  }
  const line = report.lines.find(({ phase }) => phase.name === 'restore');
  if (line?.outcome?.is === 'waiting') {
    const { reason, message } = line.outcome;
    return [stated('False', isReasonOf('StewardControlPlane', 'Restored', reason) ? reason : 'Pending', message)];
  }
  if (line?.error !== undefined) return [stated('False', 'Failed', messageOf(line.error))];
  return [stated('False', 'Pending', 'waiting for the TenantControlPlane to be created')];
}

const stated = (status: 'True' | 'False', reason: Reason, message: string): NewCondition =>
  stateCondition('StewardControlPlane', { type: 'Restored', status, reason, message });

/** The record of the restore after a reconcile. It never goes back: what is complete stays so. */
export function restoreRecord(
  scp: StewardControlPlane,
  { scope: { restored, restore, leftUnrestored }, lines }: Report<Scope>,
  now: Date,
): Pick<StewardControlPlaneStatus, 'restore'> {
  const before = scp.status?.restore;
  const isAsked = scp.spec.restoreFrom !== undefined || before !== undefined;
  if (!isAsked || before?.completionTime !== undefined || leftUnrestored === true) return {};
  const uid = restore?.metadata.uid ?? before?.uid;
  const named = { name: restoreName(scp), ...(uid !== undefined && { uid }) };
  if (restored !== undefined) {
    return { restore: { ...named, restoredTime: restored, completionTime: now.toISOString() } };
  }
  const isBegun = lines.some(({ phase, outcome }) => phase.name === 'restore' && outcome?.is === 'waiting');
  return isBegun ? { restore: named } : {};
}
