import type { ReasonOf } from '../../api/conditions.ts';
import type { BackupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import { awaitedRestore } from '../../api/steward/v1alpha1/backup/restore-mark.ts';
import type { TenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { isUnderWay, shareInUse } from '../../api/steward/v1alpha1/share-in-use.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { unfinishedRestore } from './unfinished-restore.ts';

/** What decides whether the process of a policy runs. */
export interface PolicyFacts {
  /** The TenantControlPlane of the policy; undefined if it does not exist. */
  readonly tcp: TenantControlPlane | undefined;
  /** Every policy, of all namespaces. */
  readonly policies: readonly BackupPolicy[];
  /** Every restore of the namespace. */
  readonly restores: readonly TenantRestore[];
  /** Why the storage may not be used. */
  readonly refusal: string | undefined;
  /** Why a schedule is invalid, with its field. */
  readonly scheduleError: string | undefined;
}

/** Why no process is to run. */
export interface NoProcess {
  readonly reason: ReasonOf<'BackupPolicy', 'Ready'>;
  readonly message: string;
}

/** Why the process of a policy is not to run; undefined if it is to run. */
export function noProcess(policy: BackupPolicy, facts: PolicyFacts): NoProcess | undefined {
  const { spec } = policy;
  const { tcp, refusal, scheduleError } = facts;
  const tenant = spec.tenantControlPlaneName;
  if (scheduleError !== undefined) return { reason: 'InvalidSpec', message: scheduleError };
  if (refusal !== undefined) return { reason: 'StorageNotAllowed', message: refusal };
  const older = olderPolicy(policy, facts.policies);
  if (older !== undefined) {
    const message = `BackupPolicy ${older.metadata.name} already backs up TenantControlPlane ${tenant}: delete one of the two`;
    return { reason: 'AnotherPolicy', message };
  }
  if (spec.suspend) return { reason: 'Suspended', message: 'spec.suspend is true: no changes are saved' };
  const restores = facts.restores.filter((one) => one.spec.tenantControlPlaneName === tenant);
  const restore = restores.find(isRunning);
  if (restore !== undefined) {
    return {
      reason: 'Restoring',
      message: `TenantRestore ${restore.metadata.name} is restoring TenantControlPlane ${tenant}`,
    };
  }
  if (tcp === undefined || tcp.metadata.deletionTimestamp !== undefined) {
    const message = `TenantControlPlane ${tenant} ${tcp === undefined ? 'does not exist' : 'no longer exists'}`;
    return { reason: 'TenantControlPlaneNotFound', message };
  }
  const awaited = awaitedRestore(tcp);
  if (awaited !== undefined) {
    // What it has so far is not worth a backup, and would be the last known moment of one that has the same name.
    return { reason: 'Restoring', message: `${tenant} waits for TenantRestore ${awaited}` };
  }
  const unfinished = unfinishedRestore(restores, tcp.metadata.creationTimestamp);
  if (unfinished !== undefined) {
    const { name } = unfinished.metadata;
    const message = `TenantRestore ${name} failed after it had begun to write: the data may be incomplete and is not backed up until another TenantRestore is complete; keep ${name} until then`;
    return { reason: 'RestoreFailed', message };
  }
  return withoutData(tcp);
}

/** Another policy for the same control plane that was created earlier; of two at once, the one with the lesser UID. */
export function olderPolicy(policy: BackupPolicy, policies: readonly BackupPolicy[]): BackupPolicy | undefined {
  const age = ({ metadata }: BackupPolicy): string => `${metadata.creationTimestamp ?? ''} ${metadata.uid}`;
  return policies.find(
    (other) =>
      other.metadata.uid !== policy.metadata.uid &&
      other.metadata.namespace === policy.metadata.namespace &&
      other.spec.tenantControlPlaneName === policy.spec.tenantControlPlaneName &&
      age(other) < age(policy),
  );
}

/** A restore works, or waits for the processes of others to end. */
const isRunning = ({ status }: TenantRestore): boolean => status?.phase === 'Running';

function withoutData({ metadata: { name }, status }: TenantControlPlane): NoProcess | undefined {
  const { storage } = status ?? {};
  if (isUnderWay(storage?.migration)) {
    return {
      reason: 'WaitingForData',
      message: `the data of TenantControlPlane ${name} is being migrated to another DataStore`,
    };
  }
  const schema = shareInUse(storage)?.schema ?? storage?.setup?.schema;
  return schema === undefined
    ? { reason: 'WaitingForData', message: `TenantControlPlane ${name} has no data yet` }
    : undefined;
}
