import { annotations, finalizers } from '../../api/names.ts';
import { backupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import type { BackupEntry, BackupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import type { BackupSource } from '../../api/steward/v1alpha1/backup/backup-place.ts';
import { tenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import type { TenantBackup, TenantBackupStatus } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context, Controller, LastReconcile, ReconcileResult } from '../../runtime/reconcile/controller.ts';
import { jobState } from '../../stores/backup/process/process-state.ts';
import { access } from './access.ts';
import { backupProcessOf } from './backup-process.ts';
import { endBackup } from './deletion.ts';
import type { Dependencies } from './dependencies.ts';
import { completedStatus, deletingStatus, failedStatus, isFinished, pendingStatus, runningStatus } from './status.ts';
import type { Waiting } from './status.ts';
import { backupWatches } from './watches.ts';

/** No watch reports why a pod does not run. In milliseconds. */
const lookMs = 5000;
const soonMs = 50;

/** Takes the backup of each TenantBackup once, and updates the status of those that belong to policies. */
export function tenantBackupController(deps: Dependencies): Controller<TenantBackup> {
  return {
    name: 'tenantbackup',
    kind: tenantBackup,
    optional: true,
    access,
    finalizers: [finalizers.backup],
    watches: backupWatches(deps),
    paused: ({ metadata }) =>
      metadata.annotations?.[annotations.paused] === undefined
        ? undefined
        : `the annotation ${annotations.paused} is set`,
    async reconcile(backup, ctx): Promise<ReconcileResult<TenantBackup>> {
      if (backup.spec.time !== undefined) return { status: await statusOfPolicys(backup, deps, ctx) };
      if (isFinished(backup)) return {};
      return takeOnce(backup, deps, ctx);
    },
    async finalize(backup, ctx): Promise<LastReconcile<TenantBackup>> {
      const waiting = await endBackup(backup, deps, ctx.signal);
      if (waiting === undefined) return { finished: true };
      return { finished: false, status: deletingStatus(backup, waiting, ctx.now), afterMs: lookMs };
    },
  };
}

/** What the policy reports about its backup; the last status, if the policy is gone or reports nothing. */
async function statusOfPolicys(
  backup: TenantBackup,
  { cluster }: Dependencies,
  { now, signal }: Context,
): Promise<TenantBackupStatus | undefined> {
  const { policyName = '', source, time } = backup.spec;
  const key = { namespace: backup.metadata.namespace, name: policyName };
  const policy = await cluster.get(backupPolicy, key, { signal });
  const entry = policy?.status?.process?.backups?.find((one) => one.time === time);
  if (policy === undefined || entry === undefined || source === undefined) return backup.status;
  return completedStatus(backup, source, { ...withChanges(entry, policy), completedAt: entry.time }, now);
}

/** Changes go on being saved after the newest backup. */
function withChanges(entry: BackupEntry, { status }: BackupPolicy): BackupEntry {
  const { backups = [], changesUntil } = status?.process ?? {};
  if (backups.at(-1)?.time !== entry.time || changesUntil === undefined || changesUntil <= entry.time) return entry;
  return { ...entry, changesUntil };
}

async function takeOnce(
  backup: TenantBackup,
  deps: Dependencies,
  ctx: Context,
): Promise<ReconcileResult<TenantBackup>> {
  const { processes } = deps;
  const { now, signal } = ctx;
  const source = backup.status?.source;
  if (source === undefined) return beginWith(await sourceOf(backup, deps, signal), backup, now);
  const job = await processes.job('backup', backup, signal);
  if (job === undefined) {
    if (backup.status?.startTime !== undefined) return { status: await afterTheJob(backup, deps, ctx, undefined) };
    const waiting = await whatIsMissing(backup, source, { deps, signal });
    if (waiting !== undefined) return { status: pendingStatus(backup, waiting, now) };
    await processes.start(backupProcessOf(backup, source, 'backup'), signal);
    const started = { source, startTime: now.toISOString(), message: 'the process is being started' };
    return { status: runningStatus(backup, started, now), afterMs: lookMs };
  }
  const state = jobState(job);
  // A manager may have died before it could write down that it had started the process.
  const startTime = backup.status?.startTime ?? job.metadata.creationTimestamp ?? now.toISOString();
  if (state.is !== 'running') {
    const status = await afterTheJob(backup, deps, ctx, state.is === 'failed' ? state.message : '');
    return { status: { ...status, startTime } };
  }
  const troubles = await processes.troubles('backup', backup, signal);
  const message = backup.status?.process?.problem ?? troubles;
  return { status: runningStatus(backup, { source, startTime, message }, now), afterMs: lookMs };
}

/** Writes down what is backed up before a process is started: the policy may be deleted at any time. */
function beginWith(source: BackupSource | undefined, backup: TenantBackup, now: Date): ReconcileResult<TenantBackup> {
  if (source === undefined) {
    const message = `BackupPolicy ${backup.spec.policyName ?? ''} does not exist`;
    return { status: pendingStatus(backup, { reason: 'PolicyNotFound', message }, now) };
  }
  const status = pendingStatus(backup, { reason: 'Running', message: 'the process is about to be started' }, now);
  return { status: { ...status, source }, afterMs: soonMs, hasMore: true };
}

/** What the process has reported last; the cache may not have it yet. `failure` is why the Job was given up, absent if it is gone. */
async function afterTheJob(
  cached: TenantBackup,
  { cluster }: Dependencies,
  ctx: Context,
  failure: string | undefined,
): Promise<TenantBackupStatus> {
  const { now, signal } = ctx;
  const { namespace, name } = cached.metadata;
  const fresh = (await cluster.get(tenantBackup, { namespace, name }, { signal })) ?? cached;
  const { process, source } = fresh.status ?? {};
  const { time, revision, keys, bytes, problem } = process ?? {};
  const isReported = time !== undefined && revision !== undefined && keys !== undefined && bytes !== undefined;
  if (isReported && source !== undefined && problem === undefined) {
    ctx.event('Normal', 'BackupCompleted', `the backup of ${time} is complete`);
    return completedStatus(fresh, source, { time, revision, keys, bytes, completedAt: now.toISOString() }, now);
  }
  const message = problem ?? (failure === undefined || failure === '' ? 'the process has reported no backup' : failure);
  ctx.event('Warning', 'BackupFailed', message);
  return failedStatus(fresh, message, now);
}

/** What is backed up, and where to; undefined while the policy does not exist. */
async function sourceOf(
  { metadata, spec }: TenantBackup,
  { cluster }: Dependencies,
  signal: AbortSignal,
): Promise<BackupSource | undefined> {
  if (spec.source !== undefined) return spec.source;
  const key = { namespace: metadata.namespace, name: spec.policyName ?? '' };
  const policy = await cluster.get(backupPolicy, key, { signal });
  if (policy === undefined) return undefined;
  const { tenantControlPlaneName, encryption, storage } = policy.spec;
  return { tenantControlPlaneName, encryption, storage };
}

async function whatIsMissing(
  { metadata: { namespace } }: TenantBackup,
  { storage, tenantControlPlaneName: name }: BackupSource,
  { deps: { cluster, processes }, signal }: { readonly deps: Dependencies; readonly signal: AbortSignal },
): Promise<Waiting | undefined> {
  const refusal = processes.refusal(storage);
  if (refusal !== undefined) return { reason: 'StorageNotAllowed', message: refusal };
  if ((await cluster.get(tenantControlPlane, { namespace, name }, { signal })) !== undefined) return undefined;
  return { reason: 'TenantControlPlaneNotFound', message: `TenantControlPlane ${name} does not exist` };
}
