import { counted } from '../../api/counted.ts';
import { awaitedRestore } from '../../api/steward/v1alpha1/backup/restore-mark.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { NewCondition } from '../../runtime/reconcile/conditions.ts';
import { messageOf } from '../../runtime/reconcile/conditions.ts';
import { TerminalError } from '../../runtime/client/errors.ts';
import type { Report, ReportLine } from '../../runtime/reconcile/phases.ts';
import type { Rollout } from './upgrade/rollout.ts';
import type { Scope } from './scope.ts';

/** What the contract's conditions are made of besides the report. */
export interface Facts {
  readonly desired: number;
  readonly rollout: Rollout;
  readonly isUsable: boolean;
  readonly initialized: boolean;
  /** The state of the TenantControlPlane in one word. */
  readonly state: string;
  readonly tenant: TenantControlPlane | undefined;
}

/** The conditions that Cluster API reads, and the older names for two of them. */
export function contractConditions(report: Report<Scope>, facts: Facts): readonly NewCondition[] {
  const { isUsable, initialized } = facts;
  const why = whyNot(report, facts);
  const positive = (type: string, holds: boolean, names: readonly [string, string]): NewCondition => ({
    type,
    status: holds ? 'True' : 'False',
    reason: holds ? names[0] : names[1],
    message: holds ? '' : why,
  });
  const isRestored = facts.tenant !== undefined && awaitedRestore(facts.tenant) !== undefined;
  const isAsleep = facts.state === 'Sleeping' && !isRestored;
  const refused = lineOf(report, 'tenant')?.error instanceof TerminalError;
  return [
    positive('Available', isUsable, ['Available', isAsleep ? 'Sleeping' : 'NotAvailable']),
    positive('Initialized', initialized, ['Initialized', 'NotInitialized']),
    positive('StewardControlPlaneIsInitialized', initialized, ['Succeeded', 'Pending']),
    certificates(report, why),
    ...progress(facts),
    negative('Remediating', false, ''),
    notDeleting,
    positive('StewardControlPlaneIsReady', isUsable && initialized, ['Succeeded', 'Pending']),
    positive('Ready', isUsable && initialized && !refused, ['Ready', isAsleep && !refused ? 'Sleeping' : 'NotReady']),
  ];
}

/** The conditions of the contract while the TenantControlPlane cannot be read: nothing is reported as changed. */
export function unknownConditions(error: unknown): readonly NewCondition[] {
  const message = `the TenantControlPlane could not be read: ${messageOf(error)}`;
  return [
    { type: 'Available', status: 'Unknown', reason: 'InternalError', message },
    negative('Remediating', false, ''),
    notDeleting,
  ];
}

/** The conditions of the contract before the TenantControlPlane exists. */
export function earlyConditions(): readonly NewCondition[] {
  const message = 'there is no TenantControlPlane yet';
  return [
    { type: 'Initialized', status: 'False', reason: 'NotInitialized', message },
    { type: 'CertificatesAvailable', status: 'False', reason: 'NotAvailable', message },
    negative('RollingOut', false, ''),
    uncounted('ScalingUp'),
    uncounted('ScalingDown'),
    negative('Remediating', false, ''),
    notDeleting,
  ];
}

const notDeleting: NewCondition = { type: 'Deleting', status: 'False', reason: 'NotDeleting', message: '' };

function negative(type: string, holds: boolean, message: string): NewCondition {
  return {
    type,
    status: holds ? 'True' : 'False',
    reason: holds ? type : `Not${type}`,
    message: holds ? message : '',
  };
}

function uncounted(type: string): NewCondition {
  const message = 'the pods of the control plane have not been counted yet';
  return { type, status: 'Unknown', reason: 'WaitingForReplicasSet', message };
}

function progress({ desired, rollout, state }: Facts): readonly NewCondition[] {
  const { total, upToDate, unfinished } = rollout;
  const condition = negative('RollingOut', unfinished !== undefined && total > 0, unfinished ?? '');
  const reason = reasonOf(rollout) ?? condition.reason;
  const rolling = condition.status === 'True' ? { ...condition, reason } : condition;
  if (!rollout.counted) return [rolling, uncounted('ScalingUp'), uncounted('ScalingDown')];
  // A rollout has pods beyond the wanted ones for a while.
  const surplus = total > desired && state !== 'Upgrading' && upToDate === total;
  return [
    rolling,
    negative('ScalingUp', total < desired, `scaling up from ${total} to ${counted(desired, 'replica')}`),
    negative('ScalingDown', surplus, `scaling down from ${total} to ${counted(desired, 'replica')}`),
  ];
}

function reasonOf({ isHeld = false, isForced = false }: Rollout): string | undefined {
  if (isHeld) return 'WaitingForClusterAddon';
  return isForced ? 'WithoutClusterAddon' : undefined;
}

function lineOf(report: Report<Scope>, name: string): ReportLine<Scope> | undefined {
  return report.lines.find(({ phase }) => phase.name === name);
}

function certificates(report: Report<Scope>, why: string): NewCondition {
  const type = 'CertificatesAvailable';
  const { outcome, error } = lineOf(report, 'secrets') ?? {};
  if (outcome?.is === 'done') return { type, status: 'True', reason: 'Available', message: '' };
  if (outcome?.is === 'waiting') return { type, status: 'False', reason: 'NotAvailable', message: outcome.message };
  if (error === undefined) return { type, status: 'False', reason: 'NotAvailable', message: why };
  return { type, status: 'False', reason: 'InternalError', message: messageOf(error) };
}

/** What the control plane waits for, as text: the first phase to blame, else the TenantControlPlane's own. */
function whyNot(report: Report<Scope>, { state, tenant }: Facts): string {
  const blamed = report.lines.find(({ outcome, error }) => {
    // What waits for the control plane itself is no reason why that is not ready.
    return error !== undefined || (outcome?.is === 'waiting' && outcome.reason !== 'WaitingForControlPlane');
  });
  if (blamed?.outcome?.is === 'waiting') return blamed.outcome.message;
  if (blamed?.error instanceof Error) return blamed.error.message;
  const ready = tenant?.status?.conditions?.find(({ type }) => type === 'Ready');
  const message = ready?.message ?? '';
  return message === '' ? `the TenantControlPlane is ${state}` : `the TenantControlPlane is ${state}: ${message}`;
}
