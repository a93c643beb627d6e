import { kinds } from '../../api/core/kinds.ts';
import { annotations, finalizers } from '../../api/names.ts';
import { backupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import type { BackupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import { tenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { createIfAbsent } from '../../runtime/client/create-if-absent.ts';
import type { Controller, LastReconcile, ReconcileResult } from '../../runtime/reconcile/controller.ts';
import { nextBackup, ScheduleError } from '../../stores/backup/backup-schedule.ts';
import type { BackupSchedule } from '../../stores/backup/backup-schedule.ts';
import { access } from './access.ts';
import { endPolicy } from './deletion.ts';
import type { Dependencies } from './dependencies.ts';
import { backupManifest, backupsChange } from './policy-backups.ts';
import { policyProcess } from './policy-process.ts';
import { deletingStatus, policyStatus } from './status.ts';
import type { ProcessFacts } from './status.ts';
import { rehearse } from './rehearsal/rehearse.ts';
import { noProcess } from './wanted-process.ts';
import type { NoProcess } from './wanted-process.ts';
import { policyWatches } from './watches.ts';

/** No watch reports that a pod has ended. In milliseconds. */
const endingMs = 3000;

/** A policy that may not run a process rehearses nothing. One that is suspended, or whose control plane is gone, still has its backups. */
const untrusted: readonly NoProcess['reason'][] = ['InvalidSpec', 'StorageNotAllowed', 'AnotherPolicy'];

/** Runs a process that backs up the control plane of each BackupPolicy, and keeps a TenantBackup for each backup. */
export function backupPolicyController(deps: Dependencies): Controller<BackupPolicy> {
  return {
    name: 'backuppolicy',
    kind: backupPolicy,
    optional: true,
    access,
    finalizers: [finalizers.backup],
    watches: policyWatches(deps),
    paused: ({ metadata }) =>
      metadata.annotations?.[annotations.paused] === undefined
        ? undefined
        : `the annotation ${annotations.paused} is set`,
    async reconcile(policy, { signal, now }): Promise<ReconcileResult<BackupPolicy>> {
      const none = await whyNoProcess(policy, deps, { signal, now });
      const facts = await keepProcess(policy, none, { deps, signal });
      await keepBackups(policy, deps, signal);
      const verdict = policyStatus(policy, facts, now);
      if (none !== undefined && untrusted.includes(none.reason)) return verdict;
      const rehearsal = await rehearse(policy, verdict.status, { deps, now, signal });
      return { status: rehearsal.status, ...soonest(verdict.afterMs, rehearsal.afterMs) };
    },
    async finalize(policy, ctx): Promise<LastReconcile<BackupPolicy>> {
      const waiting = await endPolicy(policy, deps, ctx);
      if (waiting === undefined) return { finished: true };
      return { finished: false, status: deletingStatus(policy, waiting, ctx.now), afterMs: endingMs };
    },
  };
}

function soonest(...waits: readonly (number | undefined)[]): { readonly afterMs?: number } {
  const known = waits.filter((one) => one !== undefined);
  return known.length === 0 ? {} : { afterMs: Math.min(...known) };
}

async function whyNoProcess(
  policy: BackupPolicy,
  { cluster, processes, policies, restores }: Dependencies,
  { signal, now }: { readonly signal: AbortSignal; readonly now: Date },
): Promise<NoProcess | undefined> {
  const { namespace } = policy.metadata;
  return noProcess(policy, {
    tcp: await cluster.get(tenantControlPlane, { namespace, name: policy.spec.tenantControlPlaneName }, { signal }),
    policies: policies(),
    restores: restores().filter(({ metadata }) => metadata.namespace === namespace),
    refusal: processes.refusal(policy.spec.storage),
    scheduleError: scheduleError(policy, now),
  });
}

/** What is wrong with the schedules of a policy, with the field; undefined for usable ones. */
function scheduleError({ spec }: BackupPolicy, now: Date): string | undefined {
  return problemOf('spec', spec, now) ?? (spec.rehearsal && problemOf('spec.rehearsal', spec.rehearsal, now));
}

function problemOf(at: string, schedule: BackupSchedule, now: Date): string | undefined {
  try {
    nextBackup(schedule, now);
    return undefined;
  } catch (error) {
    if (error instanceof ScheduleError) return `${at}.${error.field}: ${error.message}`;
    throw error;
  }
}

/** Runs the process, or ends it. */
async function keepProcess(
  policy: BackupPolicy,
  none: NoProcess | undefined,
  { deps: { processes }, signal }: { readonly deps: Dependencies; readonly signal: AbortSignal },
): Promise<ProcessFacts> {
  if (none !== undefined) {
    await processes.end(kinds.Deployment, 'backup', policy, signal);
    return { none, troubles: '', startedAt: undefined };
  }
  const { metadata } = await processes.run(policyProcess(policy), signal);
  const troubles = await processes.troubles('backup', policy, signal);
  return { none, troubles, startedAt: metadata.creationTimestamp };
}

async function keepBackups(policy: BackupPolicy, deps: Dependencies, signal: AbortSignal): Promise<void> {
  const { cluster } = deps;
  const { missing, extra } = backupsChange(policy, deps.backups());
  for (const entry of missing) {
    // The cache may not have it yet; one that a user created under its name stays.
    const made = { kind: tenantBackup, manifest: backupManifest(policy, entry) };
    await createIfAbsent(cluster, made, { fieldManager: 'steward', signal });
  }
  for (const { metadata } of extra) {
    const { namespace, name, uid } = metadata;
    await cluster.delete(tenantBackup, { namespace, name }, { uid, signal });
  }
}
