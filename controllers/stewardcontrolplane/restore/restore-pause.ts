import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { capiGroup } from '../../../api/cluster-api/names.ts';
import { annotations } from '../../../api/names.ts';
import { tenantRestore } from '../../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { TenantRestore } from '../../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Dependencies } from '../dependencies.ts';
import { fieldManager } from '../dependencies.ts';
import { restoreName } from './restore-state.ts';

interface Pausing {
  readonly paused: boolean;
  readonly ctx: Context;
}

/** Pauses the restore of a control plane with it. A process that has begun ends; no pod starts after it. */
export async function pauseRestore(
  { cluster }: Pick<Dependencies, 'cluster'>,
  scp: StewardControlPlane,
  ctx: Context,
): Promise<void> {
  if (!isAsked(scp) || isRecorded(scp)) return;
  const restore = await ownRestore({ cluster }, scp, ctx);
  if (restore !== undefined) await withRestorePause({ cluster }, restore, { paused: true, ctx });
}

/**
 * The TenantRestore of a control plane that is not paused, with no pause of ours. One whose end is on record is of no interest, except
 * after a pause, during which it may have ended.
 */
export async function resumedRestore(
  { cluster }: Pick<Dependencies, 'cluster'>,
  scp: StewardControlPlane,
  ctx: Context,
): Promise<TenantRestore | undefined> {
  if (!isAsked(scp) || (isRecorded(scp) && !wasPaused(scp))) return undefined;
  const restore = await ownRestore({ cluster }, scp, ctx);
  return restore && withRestorePause({ cluster }, restore, { paused: false, ctx });
}

/** The TenantRestore that belongs to a StewardControlPlane. */
export async function ownRestore(
  { cluster }: Pick<Dependencies, 'cluster'>,
  scp: StewardControlPlane,
  { signal }: Context,
): Promise<TenantRestore | undefined> {
  if (!isAsked(scp)) return undefined;
  const key = { namespace: scp.metadata.namespace, name: restoreName(scp) };
  const found = await cluster.get(tenantRestore, key, { signal });
  return found?.metadata.ownerReferences?.some(({ uid }) => uid === scp.metadata.uid) === true ? found : undefined;
}

const isAsked = ({ spec, status }: StewardControlPlane): boolean =>
  spec.restoreFrom !== undefined || status?.restore !== undefined;

const isRecorded = ({ status }: StewardControlPlane): boolean => status?.restore?.completionTime !== undefined;

const wasPaused = ({ status }: StewardControlPlane): boolean =>
  status?.conditions?.some((condition) => condition.type === 'Paused' && condition.status === 'True') ?? false;

/** The same for a TenantRestore that was just read, or its end. A pause that a person has set is left alone. */
export async function withRestorePause(
  { cluster }: Pick<Dependencies, 'cluster'>,
  restore: TenantRestore,
  { paused, ctx }: Pausing,
): Promise<TenantRestore> {
  const { namespace, name, uid, annotations: marks } = restore.metadata;
  const pause = marks?.[annotations.paused];
  if (paused ? pause !== undefined : pause !== capiGroup) return restore;
  const body = { metadata: { uid, annotations: { [annotations.paused]: paused ? capiGroup : null } } };
  const options = { fieldManager: `${fieldManager}-pause`, signal: ctx.signal };
  return cluster.patch(tenantRestore, { namespace, name }, { type: 'merge', body }, options);
}
