import { pausedAnnotation } from '../../api/cluster-api/names.ts';
import { conditionTable } from '../../api/conditions.ts';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { annotations } from '../../api/names.ts';
import type { Kind } from '../../api/schema.ts';
import { backupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import { tenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import { tenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { kubeconfigGenerator } from '../../api/steward/v1alpha1/kubeconfig-generator.ts';
import { controlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import { controlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { retainedControlPlane } from '../../api/steward/v1alpha1/retained-control-plane.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { clusterAddon } from '../../clusterstacks/api/cluster-addon.ts';
import { clusterStackRelease } from '../../clusterstacks/api/cluster-stack-release.ts';
import { clusterStack } from '../../clusterstacks/api/cluster-stack.ts';

/** Argo CD's words for the health of an object. */
export type Health = 'Healthy' | 'Progressing' | 'Suspended' | 'Degraded';

/** How the health of an object follows from the conditions of its kind. */
export interface HealthRule {
  readonly kind: Kind;
  /** The annotation that pauses an object of this kind, with any value. */
  readonly pausedBy: string;
  /** The condition that sums up the others. True is healthy, Unknown is progressing. */
  readonly summary: string;
  /** By reason, while the summary is True. */
  readonly whenTrue?: Readonly<Record<string, Health>>;
  /** By reason, while the summary is False; all other reasons are degraded. */
  readonly whenFalse: Readonly<Record<string, Health>>;
  /** Reasons of the summary, True or False, that stay until a person changes something, or for many minutes. */
  readonly final?: readonly string[];
  /** Field of the status that is set when the object has worked for the first time: before, it is not degraded but progressing. */
  readonly once?: string;
  /** A condition that is True while the object changes, although it can be used. */
  readonly busy?: string;
  /** Field of the spec: with 0 it sleeps. */
  readonly replicas?: string;
}

/** Whether the kind reports in a condition that it is paused. */
export function hasPausedCondition({ kind }: Kind): boolean {
  const rows: Readonly<Record<string, object>> = { ...conditionTable };
  return 'Paused' in (rows[kind] ?? {});
}

/** A reason, in any condition, that only a changed spec can fix. */
export const hopelessReason = 'InvalidSpec';

/** One rule for each kind with a status. What sleeps, is paused or is held by intention is suspended. */
export const healthRules: readonly HealthRule[] = [
  {
    kind: tenantControlPlane,
    pausedBy: annotations.paused,
    summary: 'Ready',
    whenTrue: {
      RollingOut: 'Progressing',
      Upgrading: 'Progressing',
      UpgradeHeld: 'Suspended',
      RolloutFailed: 'Degraded',
      WriteLimited: 'Healthy',
    },
    whenFalse: {
      Provisioning: 'Progressing',
      Upgrading: 'Progressing',
      Migrating: 'Progressing',
      CertificateAuthorityRotating: 'Progressing',
      Sleeping: 'Suspended',
      NotReady: 'Degraded',
    },
    final: ['RolloutFailed'],
  },
  {
    kind: retainedControlPlane,
    pausedBy: annotations.paused,
    summary: 'Adoptable',
    whenFalse: { RecordUnreadable: 'Degraded' },
  },
  {
    kind: dataStore,
    pausedBy: annotations.paused,
    summary: 'Ready',
    whenFalse: {},
    once: 'serverVersion',
  },
  // A control plane that is not up yet has no kubeconfig, which is usual.
  { kind: kubeconfigGenerator, pausedBy: annotations.paused, summary: 'Ready', whenFalse: { NotReady: 'Progressing' } },
  {
    kind: controlPlanePool,
    pausedBy: annotations.paused,
    summary: 'Ready',
    whenFalse: { Preparing: 'Progressing', CreationRefused: 'Degraded', NotBecomingReady: 'Degraded' },
  },
  {
    kind: controlPlaneClaim,
    pausedBy: annotations.paused,
    summary: 'Bound',
    whenFalse: {
      NoneReady: 'Progressing',
      // It may be created together with its pool.
      PoolNotFound: 'Progressing',
      KubeconfigPending: 'Progressing',
      SecretTaken: 'Degraded',
      ControlPlaneGone: 'Degraded',
    },
    final: ['ControlPlaneGone'],
  },
  {
    kind: backupPolicy,
    pausedBy: annotations.paused,
    summary: 'Ready',
    whenTrue: { BackingUp: 'Healthy' },
    whenFalse: {
      Starting: 'Progressing',
      Suspended: 'Suspended',
      WaitingForData: 'Progressing',
      Restoring: 'Progressing',
      StorageNotAllowed: 'Degraded',
      TenantControlPlaneNotFound: 'Degraded',
      AnotherPolicy: 'Degraded',
      RestoreFailed: 'Degraded',
      ProcessFailed: 'Degraded',
      BackupOverdue: 'Degraded',
    },
  },
  {
    kind: tenantBackup,
    pausedBy: annotations.paused,
    summary: 'Complete',
    whenTrue: { Completed: 'Healthy' },
    whenFalse: {
      Running: 'Progressing',
      PolicyNotFound: 'Progressing',
      TenantControlPlaneNotFound: 'Progressing',
      StorageNotAllowed: 'Degraded',
      Failed: 'Degraded',
    },
    final: ['Failed'],
  },
  {
    kind: tenantRestore,
    pausedBy: annotations.paused,
    summary: 'Complete',
    whenTrue: { Completed: 'Healthy' },
    whenFalse: {
      Running: 'Progressing',
      WaitingForProcesses: 'Progressing',
      // A person has to do something, and then it continues.
      WaitingForSleep: 'Suspended',
      WaitingForKey: 'Suspended',
      WaitingForStore: 'Suspended',
      WaitingForPods: 'Progressing',
      TenantControlPlaneNotFound: 'Progressing',
      NotAwaited: 'Progressing',
      BackupNotFound: 'Degraded',
      StorageNotAllowed: 'Degraded',
      Failed: 'Degraded',
    },
    final: ['Failed'],
  },
  {
    kind: stewardControlPlane,
    pausedBy: pausedAnnotation,
    summary: 'Ready',
    whenFalse: { WaitingForCluster: 'Progressing', Sleeping: 'Suspended', NotReady: 'Degraded' },
    once: 'initialized',
    busy: 'RollingOut',
    replicas: 'replicas',
  },
  {
    kind: clusterStack,
    pausedBy: pausedAnnotation,
    summary: 'Ready',
    whenFalse: { NoRelease: 'Progressing', NoReleaseReady: 'Progressing' },
  },
  {
    kind: clusterStackRelease,
    pausedBy: pausedAnnotation,
    summary: 'Ready',
    whenFalse: {
      ReleaseAssetsNotDownloadedYet: 'Progressing',
      ProcessOngoing: 'Progressing',
      ObjectsApplyingOngoing: 'Progressing',
      InUse: 'Progressing',
      Deleting: 'Progressing',
    },
  },
  {
    kind: clusterAddon,
    pausedBy: pausedAnnotation,
    summary: 'Ready',
    whenFalse: {
      Paused: 'Suspended',
      // Nothing is to be done.
      NoClusterStack: 'Healthy',
      ClusterDeleting: 'Progressing',
      ControlPlaneNotReady: 'Progressing',
      ObjectsApplyingOngoing: 'Progressing',
      FailedToEvaluatePreCondition: 'Progressing',
      FailedToEvaluatePostCondition: 'Progressing',
      StageTimedOut: 'Degraded',
    },
  },
];
