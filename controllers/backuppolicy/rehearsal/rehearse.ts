import { stateCondition } from '../../../api/conditions.ts';
import type { ReasonOf, StatedCondition } from '../../../api/conditions.ts';
import type { KindRef, Manifest, NamespacedResource, Resource } from '../../../api/meta.ts';
import type { BackupPolicy, BackupPolicyStatus } from '../../../api/steward/v1alpha1/backup/backup-policy.ts';
import { tenantRestore } from '../../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { TenantRestore } from '../../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { createIfAbsent } from '../../../runtime/client/create-if-absent.ts';
import { setCondition } from '../../../runtime/reconcile/conditions.ts';
import { nextBackup } from '../../../stores/backup/backup-schedule.ts';
import type { Dependencies } from '../dependencies.ts';
import { isOf, rehearsalManifest, rehearsalName, trialManifest } from './manifests.ts';

type Status = BackupPolicyStatus;
type Stated = StatedCondition<'Rehearsed', ReasonOf<'BackupPolicy', 'Rehearsed'>>;

/** What a rehearsal adds to the status of its policy, and when to requeue it if no event enqueues it before. */
export interface RehearsalVerdict {
  readonly status: Status;
  readonly afterMs?: number;
}

interface Step {
  readonly stated?: Stated;
  /** How far it is, for the condition of a policy of which no rehearsal has ended yet. */
  readonly progress?: string;
  readonly result?: Status['rehearsal'];
  readonly afterMs?: number;
}

/** No watch reports that a trial is gone. In milliseconds. */
const lookMs = 2000;

/**
 * Rehearses the newest backup of a policy when that is due, and notes the result. The rehearsal is a TenantControlPlane without pods
 * that exists as long as its TenantRestore works: the result is stored before both are deleted.
 */
export async function rehearse(
  policy: BackupPolicy,
  status: Status,
  { deps, now, signal }: { readonly deps: Dependencies; readonly now: Date; readonly signal: AbortSignal },
): Promise<RehearsalVerdict> {
  const stage = new Stage(policy, deps, signal);
  if (policy.spec.rehearsal === undefined) {
    if (status.rehearsal === undefined && !hasCondition(status)) return { status };
    if (!(await stage.clear())) return { status, afterMs: lookMs };
    return { status: without(status) };
  }
  const step = await nextStep(policy, stage, now);
  const { stated, progress = 'the next rehearsal has not begun', result, afterMs } = step;
  const at = { generation: policy.metadata.generation, now };
  const known = status.conditions ?? [];
  const shown = stated ?? (hasResult(status) ? undefined : notYet(progress));
  return {
    status: {
      ...status,
      ...(result !== undefined && { rehearsal: result }),
      conditions: shown === undefined ? known : setCondition(known, stateCondition('BackupPolicy', shown), at),
    },
    ...(afterMs !== undefined && { afterMs }),
  };
}

const hasCondition = ({ conditions }: Status): boolean => conditions?.some(({ type }) => type === 'Rehearsed') ?? false;

const hasResult = ({ conditions }: Status): boolean =>
  conditions?.some(({ type, reason }) => type === 'Rehearsed' && reason !== 'NotRehearsed') ?? false;

function without(status: Status): Status {
  const others = Object.entries(status).filter(([field]) => field !== 'rehearsal');
  const conditions = status.conditions?.filter(({ type }) => type !== 'Rehearsed');
  return { ...(Object.fromEntries(others) as Status), conditions };
}

const notYet = (message: string): Stated => ({ type: 'Rehearsed', status: 'Unknown', reason: 'NotRehearsed', message });

async function nextStep(policy: BackupPolicy, stage: Stage, now: Date): Promise<Step> {
  const { status } = policy;
  const { restore, trial } = await stage.look();
  const taken = nameTaken(policy, { restore, trial });
  if (taken !== undefined) return { stated: taken, afterMs: 60_000 };
  const isNoted = restore !== undefined && status?.rehearsal?.restore === restore.metadata.uid;
  if (restore !== undefined && !isNoted) {
    const { phase } = restore.status ?? {};
    if (phase === 'Completed' || phase === 'Failed') return { ...resultOf(restore), afterMs: lookMs };
    if (trial !== undefined) return { progress: restoring(restore.metadata.name) };
  }
  const due = dueAt(policy, now);
  if (isNoted || (due > now.getTime() && trial !== undefined)) {
    await stage.clear();
    return { afterMs: lookMs };
  }
  if (due > now.getTime()) return { ...(Number.isFinite(due) && { afterMs: due - now.getTime() }) };
  if ((status?.process?.backups ?? []).length === 0) return { progress: 'no backup has been taken yet' };
  return stage.begin();
}

const restoring = (name: string): string => `TenantRestore ${name} is restoring the newest backup`;

interface Objects {
  readonly restore?: TenantRestore;
  readonly trial?: TenantControlPlane;
}

function nameTaken(policy: BackupPolicy, { restore, trial }: Objects): Stated | undefined {
  const foreign = [restore, trial].find((one) => one !== undefined && !isOf(policy, one));
  if (foreign === undefined) return undefined;
  const kind = foreign === restore ? tenantRestore.kind : tenantControlPlane.kind;
  const message = `${kind} ${foreign.metadata.name} has the name that rehearsals of this policy need, but does not belong to one: rename or delete it, or give the policy another name`;
  return { type: 'Rehearsed', status: 'False', reason: 'NameTaken', message };
}

/** The first one is due at once. */
function dueAt({ spec, status }: BackupPolicy, now: Date): number {
  const last = status?.rehearsal?.time;
  if (spec.rehearsal === undefined || last === undefined) return now.getTime();
  return nextBackup(spec.rehearsal, new Date(last))?.getTime() ?? Infinity;
}

/** What a restore that has ended says about the backups. */
function resultOf({ metadata, status }: TenantRestore): Pick<Step, 'stated' | 'result'> {
  const { startTime, completionTime, process, conditions } = status ?? {};
  const failed = conditions?.find(({ type, status: is }) => type === 'Failed' && is === 'True');
  const time = completionTime ?? failed?.lastTransitionTime ?? metadata.creationTimestamp ?? '';
  if (failed !== undefined) {
    const stated = { type: 'Rehearsed', status: 'False', reason: 'RehearsalFailed', message: failed.message } as const;
    return { stated, result: { time, restore: metadata.uid } };
  }
  const seconds = Math.round((Date.parse(time) - Date.parse(startTime ?? time)) / 1000);
  const { keys = 0, bytes = 0 } = process ?? {};
  const restoredTime = status?.restoredTime ?? process?.restoredTime;
  const message = `${keys} keys as of ${restoredTime ?? 'an unknown moment'} were restored and compared in ${seconds} s`;
  return {
    stated: { type: 'Rehearsed', status: 'True', reason: 'Restored', message },
    result: { time, restore: metadata.uid, restoredTime, keys, bytes, seconds },
  };
}

/** The two objects of a rehearsal. */
class Stage {
  readonly #policy: BackupPolicy;
  readonly #deps: Dependencies;
  readonly #signal: AbortSignal;

  constructor(policy: BackupPolicy, deps: Dependencies, signal: AbortSignal) {
    this.#policy = policy;
    this.#deps = deps;
    this.#signal = signal;
  }

  async look(): Promise<Objects> {
    const { cluster } = this.#deps;
    const key = { namespace: this.#policy.metadata.namespace, name: rehearsalName(this.#policy) };
    const options = { signal: this.#signal };
    const [restore, trial] = await Promise.all([
      cluster.get(tenantRestore, key, options),
      cluster.get(tenantControlPlane, key, options),
    ]);
    return { ...(restore !== undefined && { restore }), ...(trial !== undefined && { trial }) };
  }

  async begin(): Promise<Step> {
    const { namespace } = this.#policy.metadata;
    const { tenantControlPlaneName: name } = this.#policy.spec;
    const original = await this.#deps.cluster.get(tenantControlPlane, { namespace, name }, { signal: this.#signal });
    if (original === undefined) return { progress: `TenantControlPlane ${name} does not exist` };
    await this.#create(tenantControlPlane, trialManifest(this.#policy, original));
    await this.#create(tenantRestore, rehearsalManifest(this.#policy));
    return { progress: restoring(rehearsalName(this.#policy)) };
  }

  /** Deletes both; true once they are gone. */
  async clear(): Promise<boolean> {
    const { restore, trial } = await this.look();
    const own = [restore, trial].filter((one) => one !== undefined && isOf(this.#policy, one));
    if (restore !== undefined && own.includes(restore)) await this.#delete(tenantRestore, restore);
    if (trial !== undefined && own.includes(trial)) await this.#delete(tenantControlPlane, trial);
    return own.length === 0;
  }

  async #create<T extends Resource>(kind: KindRef<T>, manifest: Manifest): Promise<void> {
    const options = { fieldManager: 'steward', signal: this.#signal };
    await createIfAbsent(this.#deps.cluster, { kind, manifest }, options);
  }

  async #delete(kind: KindRef<NamespacedResource>, { metadata }: NamespacedResource): Promise<void> {
    const { namespace, name, uid, deletionTimestamp } = metadata;
    if (deletionTimestamp !== undefined) return;
    await this.#deps.cluster.delete(kind, { namespace, name }, { uid, signal: this.#signal });
  }
}
