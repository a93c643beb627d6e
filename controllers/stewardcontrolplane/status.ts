import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import type { StewardControlPlaneStatus } from '../../api/controlplane/steward-control-plane-status.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { NewCondition } from '../../runtime/reconcile/conditions.ts';
import { conditionsOf, setConditions } from '../../runtime/reconcile/conditions.ts';
import type { Report } from '../../runtime/reconcile/phases.ts';
import { asleepCondition } from './asleep-condition.ts';
import { contractConditions, earlyConditions, unknownConditions } from './contract-conditions.ts';
import { restoredConditions, restoreRecord } from './restore/restored-condition.ts';
import type { Rollout } from './upgrade/rollout.ts';
import { forcedRollout, heldRollout, rolloutOf } from './upgrade/rollout.ts';
import type { Scope } from './scope.ts';
import { isSettled, isUsable as usable } from './tenant/tenant-answers.ts';

type Status = StewardControlPlaneStatus;

/** The whole status of a StewardControlPlane after a reconcile: both contracts of Cluster API side by side. */
export function statusOf(scp: StewardControlPlane, report: Report<Scope>, now: Date): Status {
  const { tenant, secretsWritten, held, passedOver } = report.scope;
  const before: Status = scp.status ?? { externalManagedControlPlane: true };
  const unseen = report.lines.find(({ phase, error }) => phase.name === 'found' && error !== undefined);
  if (unseen !== undefined) {
    const reported = [...conditionsOf(report), ...unknownConditions(unseen.error), notPaused];
    return withConditions(scp, reported, now);
  }
  const rollout = forcedRollout(heldRollout(rolloutOf(tenant, before.version), held), passedOver);
  const isUsable = usable(tenant);
  const initialized =
    before.initialization?.controlPlaneInitialized === true || (isSettled(tenant) && secretsWritten === true);
  const state = tenant?.status?.kubernetesResources?.version?.status ?? 'Provisioning';
  const desired = tenant?.status?.sleep?.state === 'Asleep' ? 0 : desiredReplicas(scp, rollout.total);
  const reported = [
    ...conditionsOf(report),
    ...contractConditions(report, { desired, rollout, isUsable, initialized, state, tenant }),
    ...asleepCondition(tenant),
    ...restoredConditions(scp, report),
    ...oneCluster(scp, report.scope),
    notPaused,
  ];
  return {
    ...withConditions(scp, reported, now),
    ...(initialized ? { initialization: { controlPlaneInitialized: true } } : {}),
    initialized,
    ready: isUsable && initialized,
    ...countsOf(desired, rollout),
    ...selectorOf(tenant),
    ...rollout.versions,
    ...restoreRecord(scp, report, now),
  };
}

/** The status of a paused StewardControlPlane: everything as it was, and why it is paused. */
export function pausedStatus(scp: StewardControlPlane, message: string, now: Date): Status {
  const paused = { type: 'Paused', status: 'True', reason: 'Paused', message } as const;
  // The other fields are about the generation that was reconciled last.
  return { ...withConditions(scp, [paused], now), ...observedBefore(scp) };
}

/** The status before there is a Cluster to work for. */
export function waitingStatus(scp: StewardControlPlane, message: string, now: Date): Status {
  const types = ['Available', 'Ready', 'TenantControlPlaneCreated'] as const;
  const waiting = types.map((type): NewCondition => ({ type, status: 'False', reason: 'WaitingForCluster', message }));
  // What has run once is not forgotten.
  const isNew = scp.status?.replicas === undefined;
  if (!isNew) return withConditions(scp, [...waiting, notPaused], now);
  return {
    ...withConditions(scp, [...waiting, ...earlyConditions(), notPaused], now),
    initialized: false,
    ready: false,
    ...countsOf(desiredReplicas(scp, 0), rolloutOf(undefined, undefined)),
  };
}

/** The status while the control plane is being deleted. */
export function deletingStatus(
  scp: StewardControlPlane,
  why: Pick<NewCondition, 'reason' | 'message'>,
  now: Date,
): Status {
  return withConditions(scp, [{ type: 'Deleting', status: 'True', ...why }, notPaused], now);
}

/** Only of control planes that several Clusters name, or once did. */
function oneCluster({ status }: StewardControlPlane, { cluster, otherClusters = [] }: Scope): readonly NewCondition[] {
  const type = 'OneCluster';
  if (otherClusters.length === 0) {
    const wasSeveral = status?.conditions?.some((condition) => condition.type === type) ?? false;
    return wasSeveral ? [{ type, status: 'True', reason: 'OneCluster', message: '' }] : [];
  }
  const message = `serves the Cluster ${cluster.metadata.name}; ${otherClusters.join(' and ')} must name another control plane in spec.controlPlaneRef`;
  return [{ type, status: 'False', reason: 'SeveralClusters', message }];
}

const notPaused: NewCondition = { type: 'Paused', status: 'False', reason: 'NotPaused', message: '' };

function withConditions(scp: StewardControlPlane, conditions: readonly NewCondition[], now: Date): Status {
  const before: Status = scp.status ?? { externalManagedControlPlane: true };
  const at = { generation: scp.metadata.generation, now };
  return {
    ...before,
    observedGeneration: at.generation,
    externalManagedControlPlane: true,
    conditions: setConditions(before.conditions ?? [], conditions, at),
  };
}

function observedBefore({ status }: StewardControlPlane): Pick<Status, 'observedGeneration'> {
  return status?.observedGeneration === undefined ? {} : { observedGeneration: status.observedGeneration };
}

/** How many pods are wanted. An autoscaler has chosen the present number, unless that is out of its bounds. */
function desiredReplicas({ spec: { replicas, deployment } }: StewardControlPlane, total: number): number {
  const bounds = deployment?.autoscaling;
  if (bounds === undefined || replicas === 0) return replicas;
  return Math.min(Math.max(total, bounds.minReplicas), bounds.maxReplicas);
}

/** Zeros are reported too: Cluster API takes a number that is missing for one that is not known. */
function countsOf(desired: number, { total, ready, available, upToDate }: Rollout): Partial<Status> {
  return {
    replicas: total,
    readyReplicas: ready,
    availableReplicas: available,
    upToDateReplicas: upToDate,
    updatedReplicas: upToDate,
    unavailableReplicas: Math.max(0, desired - available),
  };
}

function selectorOf(tenant: TenantControlPlane | undefined): Pick<Status, 'selector'> {
  const selector = tenant?.status?.kubernetesResources?.deployment?.selector;
  return selector === undefined ? {} : { selector };
}
