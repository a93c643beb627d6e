import { kinds } from '../../api/core/kinds.ts';
import { annotations, finalizers, labels } from '../../api/names.ts';
import { tenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { TenantRestore, TenantRestoreStatus } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import type { Context, Controller, LastReconcile, ReconcileResult } from '../../runtime/reconcile/controller.ts';
import { isAtWork, jobState } from '../../stores/backup/process/process-state.ts';
import { access } from './access.ts';
import type { Dependencies } from './dependencies.ts';
import { missingKey } from './missing-key.ts';
import { restoreProcess } from './restore-process.ts';
import { restoreSource } from './restore-source.ts';
import type { RestoreSource } from './restore-source.ts';
import { restoreVerdict } from './restore-verdict.ts';
import type { Original } from './restore-verdict.ts';
import { completedStatus, failedStatus, isFinished, pendingStatus, runningStatus } from './status.ts';
import { restoreWatches } from './watches.ts';

/** No watch reports that pods have ended, or why they do not run. In milliseconds. */
const lookMs = 2000;

/** How often it is looked whether another control plane is still in use, or the key is there. In milliseconds. */
const originalMs = 10_000;

/** Restores the control plane of each TenantRestore once. */
export function tenantRestoreController(deps: Dependencies): Controller<TenantRestore> {
  return {
    name: 'tenantrestore',
    kind: tenantRestore,
    optional: true,
    access,
    finalizers: [finalizers.backup],
    watches: restoreWatches(deps),
    paused: ({ metadata }) =>
      metadata.annotations?.[annotations.paused] === undefined
        ? undefined
        : `the annotation ${annotations.paused} is set`,
    async reconcile(restore, ctx): Promise<ReconcileResult<TenantRestore>> {
      if (isFinished(restore)) return {};
      const job = await deps.processes.job('restore', restore, ctx.signal);
      if (job === undefined && restore.status?.startTime === undefined) return begin(restore, deps, ctx);
      const state = job === undefined ? undefined : jobState(job);
      // A manager may have died before it could write down that it had started the process.
      const startTime = restore.status?.startTime ?? job?.metadata.creationTimestamp ?? ctx.now.toISOString();
      if (state?.is !== 'running') {
        const status = await afterTheJob(restore, deps, ctx, state?.is === 'failed' ? state.message : '');
        return { status: { ...status, startTime } };
      }
      const { problem } = restore.status?.process ?? {};
      const message = problem ?? (await deps.processes.troubles('restore', restore, ctx.signal));
      return { status: runningStatus(restore, { reason: 'Running', message, startTime }, ctx.now), afterMs: lookMs };
    },
    async finalize(restore, { signal }): Promise<LastReconcile<TenantRestore>> {
      const isOver = await deps.processes.end(kinds.Job, 'restore', restore, signal);
      return isOver ? { finished: true } : { finished: false, afterMs: lookMs };
    },
  };
}

/** Before the process was started. */
async function begin(
  restore: TenantRestore,
  deps: Dependencies,
  ctx: Context,
): Promise<ReconcileResult<TenantRestore>> {
  const { cluster, processes } = deps;
  const { now, signal } = ctx;
  const source = await restoreSource(restore, cluster, signal);
  if (typeof source === 'string') {
    return { status: pendingStatus(restore, { reason: 'BackupNotFound', message: source }, now) };
  }
  const refusal = processes.refusal(source.storage);
  if (refusal !== undefined) {
    return { status: pendingStatus(restore, { reason: 'StorageNotAllowed', message: refusal }, now) };
  }
  const keyless = await missingKey(source, { namespace: restore.metadata.namespace }, { cluster, signal });
  if (keyless !== undefined) {
    const status = pendingStatus(restore, { reason: 'WaitingForKey', message: keyless }, now);
    // Secrets of users are not watched.
    return { status, afterMs: originalMs };
  }
  const older = olderRestore(restore, deps.restores());
  if (older !== undefined) {
    const message = `waiting for TenantRestore ${older.metadata.name}, which was created earlier, to end`;
    return { status: pendingStatus(restore, { reason: 'WaitingForProcesses', message }, now) };
  }
  const key = { namespace: restore.metadata.namespace, name: restore.spec.tenantControlPlaneName };
  const tcp = await cluster.get(tenantControlPlane, key, { signal });
  const original = await originalOf(restore, source, deps, signal);
  const verdict = restoreVerdict(restore, original, tcp);
  if (verdict.is === 'waiting') {
    const status = pendingStatus(restore, verdict, now);
    if (verdict.reason === 'WaitingForPods') return { status, afterMs: lookMs };
    // No watch reports what becomes of the control plane that was backed up.
    return { status, ...(original.tcp !== undefined && { afterMs: originalMs }) };
  }
  if (verdict.is === 'failed') {
    ctx.event('Warning', 'RestoreFailed', verdict.message);
    return { status: failedStatus(restore, verdict, now) };
  }
  if (verdict.is === 'sleepy' && tcp !== undefined) await putToSleep(tcp, deps, signal);
  return startAlone(restore, source, deps, ctx);
}

/** What was backed up; where it must not be in use beside the one that gets its identity, with what there is of it. */
async function originalOf(
  { metadata: { namespace }, spec: { type, tenantControlPlaneName } }: TenantRestore,
  { tenantControlPlaneName: name }: RestoreSource,
  { cluster }: Dependencies,
  signal: AbortSignal,
): Promise<Original> {
  if (type !== 'Move') return { name };
  // Pods outlive their control plane, and 0 replicas, by the time that they need to end.
  const [tcp, pods] = await Promise.all([
    name === tenantControlPlaneName ? undefined : cluster.get(tenantControlPlane, { namespace, name }, { signal }),
    cluster.list(kinds.Pod, { namespace, labelSelector: `${labels.name}=${name}`, signal }),
  ]);
  return { name, tcp, pods: pods.items.filter(isAtWork).map(({ metadata }) => metadata.name) };
}

/** Starts the process once no other one works on the control plane. Those of policies end because the phase is Running. */
async function startAlone(
  restore: TenantRestore,
  source: RestoreSource,
  { processes }: Dependencies,
  ctx: Context,
): Promise<ReconcileResult<TenantRestore>> {
  const { now, signal } = ctx;
  const { namespace, uid } = restore.metadata;
  const target = { namespace, name: restore.spec.tenantControlPlaneName };
  const others = await processes.atWork(target, uid, signal);
  // A policy must have read the phase before it is known that it starts nothing more.
  if (others.length > 0 || restore.status?.phase !== 'Running') {
    const message =
      others.length > 0 ? `waiting for ${others.join(', ')} to end` : 'the processes of policies are being stopped';
    const status = runningStatus(restore, { reason: 'WaitingForProcesses', message }, now);
    return { status, afterMs: lookMs, hasMore: true };
  }
  await processes.start(restoreProcess(restore, source), signal);
  ctx.event('Normal', 'RestoreStarted', `restoring ${target.name}`);
  const started = { reason: 'Running', message: 'the process is being started', startTime: now.toISOString() } as const;
  return { status: runningStatus(restore, started, now), afterMs: lookMs };
}

/** As `kubectl steward sleep` does it: the process wakes it up by what is noted here. */
async function putToSleep(tcp: TenantControlPlane, { cluster }: Dependencies, signal: AbortSignal): Promise<void> {
  const { namespace, name, resourceVersion } = tcp.metadata;
  const { replicas } = tcp.spec.controlPlane.deployment;
  const body = {
    metadata: { resourceVersion, annotations: { [annotations.replicasBeforeSleep]: String(replicas) } },
    spec: { controlPlane: { deployment: { replicas: 0 } } },
  };
  const options = { fieldManager: 'steward', signal };
  await cluster.patch(tenantControlPlane, { namespace, name }, { type: 'merge', body }, options);
}

/** Another one for the same control plane that was created earlier and has not ended; of two at once, the one with the lesser UID. */
function olderRestore(restore: TenantRestore, restores: readonly TenantRestore[]): TenantRestore | undefined {
  const age = ({ metadata }: TenantRestore): string => `${metadata.creationTimestamp ?? ''} ${metadata.uid}`;
  return restores.find(
    (other) =>
      other.metadata.uid !== restore.metadata.uid &&
      other.metadata.namespace === restore.metadata.namespace &&
      other.spec.tenantControlPlaneName === restore.spec.tenantControlPlaneName &&
      other.status?.phase === 'Running' &&
      age(other) < age(restore),
  );
}

/** The deletion of a control plane ends the process that restores it, whatever that reports then. */
async function whyEnded(
  { metadata: { namespace }, spec: { tenantControlPlaneName: name, type } }: TenantRestore,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<string | undefined> {
  const tcp = await cluster.get(tenantControlPlane, { namespace, name }, { signal });
  // One that is recreated need not exist yet.
  const isDeleted = tcp === undefined ? type !== 'Recreate' : tcp.metadata.deletionTimestamp !== undefined;
  return isDeleted ? `TenantControlPlane ${name} was deleted while it was restored` : undefined;
}

/** What the process has reported last; the cache may not have it yet. */
async function afterTheJob(
  cached: TenantRestore,
  { cluster }: Dependencies,
  ctx: Context,
  failure: string,
): Promise<TenantRestoreStatus> {
  const { namespace, name } = cached.metadata;
  const fresh = (await cluster.get(tenantRestore, { namespace, name }, { signal: ctx.signal })) ?? cached;
  const { step, restoredTime, problem } = fresh.status?.process ?? {};
  if (step === 'Restored' && restoredTime !== undefined && problem === undefined) {
    ctx.event('Normal', 'Restored', `restored as of ${restoredTime}`);
    return completedStatus(fresh, restoredTime, ctx.now);
  }
  const message =
    (await whyEnded(cached, cluster, ctx.signal)) ??
    problem ??
    (failure === '' ? 'the process ended without a result' : failure);
  ctx.event('Warning', 'RestoreFailed', message);
  return failedStatus(fresh, { reason: 'RestoreFailed', message }, ctx.now);
}
