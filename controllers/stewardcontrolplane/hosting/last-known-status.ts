import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { StewardControlPlaneStatus } from '../../../api/controlplane/steward-control-plane-status.ts';
import type { NewCondition } from '../../../runtime/reconcile/conditions.ts';
import { conditionsOf, setConditions, withoutConditions } from '../../../runtime/reconcile/conditions.ts';
import type { Report } from '../../../runtime/reconcile/phases.ts';
import type { Scope } from '../scope.ts';
import { statusOf } from '../status.ts';
import { externalCondition, isMade } from './reference.ts';

/**
 * The status of a control plane that may run in another cluster. If that cluster cannot be reached, everything keeps its
 * last known value, except the conditions that report this: the control plane may well be serving, and Cluster API must not
 * act on zeros.
 */
export function externalStatusOf(
  scp: StewardControlPlane,
  report: Report<Scope>,
  now: Date,
): StewardControlPlaneStatus {
  if (report.scope.tenant !== undefined || !isMade(scp)) return statusOf(scp, report, now);
  const before: StewardControlPlaneStatus = scp.status ?? { externalManagedControlPlane: true };
  const failures = conditionsOf(report).filter(({ status }) => status === 'False');
  const message = failures.map((each) => each.message).join('; ');
  const unknown: readonly NewCondition[] = [
    { type: 'Available', status: 'Unknown', reason: 'AvailableUnknown', message },
    { type: 'Ready', status: 'Unknown', reason: 'ReadyUnknown', message },
    { type: 'Paused', status: 'False', reason: 'NotPaused', message: '' },
  ];
  const found = conditionsOf(report).filter(({ type, status }) => type === externalCondition && status === 'True');
  const at = { generation: scp.metadata.generation, now };
  return { ...before, conditions: setConditions(before.conditions ?? [], [...failures, ...found, ...unknown], at) };
}

/** The status of a control plane that runs here: what was reported about another cluster, before anything was created there, is removed. */
export function localStatusOf(scp: StewardControlPlane, report: Report<Scope>, now: Date): StewardControlPlaneStatus {
  const status = statusOf(scp, report, now);
  const conditions = withoutConditions(status.conditions ?? [], [externalCondition]);
  return conditions === status.conditions ? status : { ...status, conditions };
}
