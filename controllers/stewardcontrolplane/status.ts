import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import type { StewardControlPlaneStatus } from '../../api/controlplane/steward-control-plane-status.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { normalizeVersion } from '../../kubeadm/versions.ts';
import type { NewCondition } from '../../runtime/conditions.ts';
import { conditionsOf, setConditions } from '../../runtime/conditions.ts';
import type { Report } from '../../runtime/phases.ts';
import type { Scope } from './scope.ts';
import { unsupportedCondition } from './unsupported.ts';
import { isSettled, isUsable as usable } from './tenant-answers.ts';

type Status = StewardControlPlaneStatus;

interface Replicas {
  readonly desired: number;
  readonly total: number;
  readonly ready: number;
  readonly available: number;
  readonly upToDate: number;
}

/** The whole status of a StewardControlPlane after a visit: both contracts of Cluster API side by side. */
export function statusOf(scp: StewardControlPlane, report: Report<Scope>, now: Date): Status {
  const { tenant, secretsWritten } = report.scope;
  const before: Status = scp.status ?? { externalManagedControlPlane: true };
  const state = tenant?.status?.kubernetesResources?.version?.status;
  const replicas = replicasOf(scp, tenant);
  const isUsable = usable(tenant);
  const initialized =
    before.initialization?.controlPlaneInitialized === true || (isSettled(tenant) && secretsWritten === true);
  const versions = versionsOf(tenant, replicas);
  const facts = { replicas, isUsable, initialized, state: state ?? 'Provisioning', tenant };
  const conditions = [
    ...conditionsOf(report),
    ...contractConditions(report, facts),
    unsupportedCondition(scp, tenant),
    notPaused,
  ];
  const at = { generation: scp.metadata.generation ?? 0, now };
  return {
    ...before,
    observedGeneration: at.generation,
    externalManagedControlPlane: true,
    ...(initialized ? { initialization: { controlPlaneInitialized: true } } : {}),
    initialized,
    ready: isUsable && initialized,
    replicas: replicas.total,
    readyReplicas: replicas.ready,
    availableReplicas: replicas.available,
    upToDateReplicas: replicas.upToDate,
    updatedReplicas: replicas.upToDate,
    unavailableReplicas: Math.max(0, replicas.desired - replicas.available),
    ...selectorOf(tenant),
    ...versions,
    conditions: setConditions(before.conditions ?? [], conditions, at),
  };
}

/** The status of a StewardControlPlane that rests: everything as it was, and why it rests. */
export function pausedStatus(scp: StewardControlPlane, message: string, now: Date): Status {
  return withConditions(scp, [{ type: 'Paused', status: 'True', reason: 'Paused', message }], now);
}

/** The status before there is a Cluster to work for. */
export function waitingStatus(scp: StewardControlPlane, message: string, now: Date): Status {
  const types = ['Available', 'Ready', 'TenantControlPlaneCreated'] as const;
  const waiting = types.map((type): NewCondition => ({ type, status: 'False', reason: 'WaitingForCluster', message }));
  return withConditions(scp, [...waiting, notPaused], now);
}

/** The status while the control plane goes away. */
export function deletingStatus(
  scp: StewardControlPlane,
  why: Pick<NewCondition, 'reason' | 'message'>,
  now: Date,
): Status {
  return withConditions(scp, [{ type: 'Deleting', status: 'True', ...why }, notPaused], now);
}

const notPaused: NewCondition = { type: 'Paused', status: 'False', reason: 'NotPaused', message: '' };

function withConditions(scp: StewardControlPlane, conditions: readonly NewCondition[], now: Date): Status {
  const before: Status = scp.status ?? { externalManagedControlPlane: true };
  const at = { generation: scp.metadata.generation ?? 0, now };
  return {
    ...before,
    externalManagedControlPlane: true,
    conditions: setConditions(before.conditions ?? [], conditions, at),
  };
}

function replicasOf(scp: StewardControlPlane, tenant: TenantControlPlane | undefined): Replicas {
  const deployment = tenant?.status?.kubernetesResources?.deployment;
  return {
    desired: scp.spec.replicas,
    total: deployment?.replicas ?? 0,
    ready: deployment?.readyReplicas ?? 0,
    available: deployment?.availableReplicas ?? 0,
    upToDate: deployment?.updatedReplicas ?? 0,
  };
}

function selectorOf(tenant: TenantControlPlane | undefined): Pick<Status, 'selector'> {
  const selector = tenant?.status?.kubernetesResources?.deployment?.selector;
  return selector === undefined ? {} : { selector };
}

/** Oldest first. The installed version stays until the roll-out to the wanted one is complete. */
function versionsOf(tenant: TenantControlPlane | undefined, replicas: Replicas): Pick<Status, 'version' | 'versions'> {
  const installed = tenant?.status?.kubernetesResources?.version?.version;
  if (tenant === undefined || installed === undefined || installed === '') return {};
  const running = normalizeVersion(installed);
  const wanted = normalizeVersion(tenant.spec.kubernetes.version);
  if (running === wanted) return { version: running, versions: [{ version: running, replicas: replicas.total }] };
  const old = Math.max(0, replicas.total - replicas.upToDate);
  return {
    version: running,
    versions: [
      { version: running, replicas: old },
      { version: wanted, replicas: replicas.upToDate },
    ],
  };
}

interface Facts {
  readonly replicas: Replicas;
  readonly isUsable: boolean;
  readonly initialized: boolean;
  readonly state: string;
  readonly tenant: TenantControlPlane | undefined;
}

function contractConditions(report: Report<Scope>, facts: Facts): readonly NewCondition[] {
  const { replicas, isUsable, initialized, state } = facts;
  const { desired, total, upToDate } = replicas;
  const why = whyNot(report, facts);
  const positive = (type: string, holds: boolean, names: readonly [string, string]): NewCondition => ({
    type,
    status: holds ? 'True' : 'False',
    reason: holds ? names[0] : names[1],
    message: holds ? '' : why,
  });
  const negative = (type: string, holds: boolean, message: string): NewCondition => ({
    type,
    status: holds ? 'True' : 'False',
    reason: holds ? type : `Not${type}`,
    message: holds ? message : '',
  });
  const secrets = report.lines.find(({ phase }) => phase.name === 'secrets')?.outcome?.is === 'done';
  return [
    positive('Available', isUsable, ['Available', 'NotAvailable']),
    positive('Initialized', initialized, ['Initialized', 'NotInitialized']),
    positive('StewardControlPlaneIsInitialized', initialized, ['Succeeded', 'Pending']),
    positive('CertificatesAvailable', secrets, ['Available', 'NotAvailable']),
    negative(
      'RollingOut',
      total > 0 && (state === 'Upgrading' || upToDate < total),
      `${upToDate} of ${total} replicas are up to date`,
    ),
    negative('ScalingUp', total < desired, `scaling up from ${total} to ${desired} replicas`),
    negative(
      'ScalingDown',
      total > desired && state !== 'Upgrading' && upToDate === total,
      `scaling down from ${total} to ${desired} replicas`,
    ),
    negative('Remediating', false, ''),
    { type: 'Deleting', status: 'False', reason: 'NotDeleting', message: '' },
    positive('StewardControlPlaneIsReady', isUsable && initialized, ['Succeeded', 'Pending']),
    positive('Ready', isUsable && initialized, ['Ready', 'NotReady']),
  ];
}

/** What the control plane waits for, in words: the first phase to blame, else the TenantControlPlane's own. */
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
