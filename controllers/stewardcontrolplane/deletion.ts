import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import type { Condition, Resource } from '../../api/meta.ts';
import { annotations } from '../../api/names.ts';
import { retainedControlPlane, retainedKey } from '../../api/steward/v1alpha1/retained-control-plane.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import type { Context, LastReconcile } from '../../runtime/reconcile/controller.ts';
import type { CapiCluster } from '../../api/cluster-api/kinds.ts';
import { capiMachine, capiMachinePool } from '../../api/cluster-api/kinds.ts';
import { clusterNameLabel } from '../../api/cluster-api/names.ts';
import { servedCluster, whyPaused } from './infrastructure/cluster-of.ts';
import type { Dependencies } from './dependencies.ts';
import { fieldManager } from './dependencies.ts';
import { finalizeExternal, isMovedAway } from './hosting/finalize-external.ts';
import { isExternal } from './hosting/reference.ts';
import { followerOf } from './infrastructure/follower.ts';
import type { Blocker } from './infrastructure/blocker-watches.ts';
import { removeRestore } from './restore/remove-restore.ts';
import { deletingStatus, pausedStatus } from './status.ts';
import { setTenantPause } from './tenant/tenant-pause.ts';

/** How soon Machines that no watch reports are counted again. */
const countAgainMs = 5_000;

/** How soon a deletion that was refused is tried again. */
const refusedMs = 2_000;

/**
 * A restore first, then workers, then the TenantControlPlane, then this object: without it, core Cluster API considers the control plane
 * gone, and it no longer drains workers once the control plane is being deleted.
 */
export async function finalize(
  deps: Dependencies,
  scp: StewardControlPlane,
  ctx: Context,
): Promise<LastReconcile<StewardControlPlane>> {
  deps.infrastructure.leave(scp.metadata.uid);
  if (isExternal(scp) && isMovedAway(scp)) return finalizeExternal(deps, scp, ctx);
  const { cluster } = await servedCluster(deps, scp, ctx);
  const paused = whyPaused(scp, cluster);
  if (paused !== undefined) return { finished: false, status: pausedStatus(scp, paused, ctx.now) };
  if (!isExternal(scp)) {
    // Before it has ended, a TenantControlPlane that a user deletes must not remove the data that the restore still writes.
    const restoring = await removeRestore(deps, scp, ctx);
    if (restoring !== undefined) return deletingFor(scp, restoring, ctx);
    await retainNoMore(deps, scp, ctx);
  }
  const workers = cluster === undefined ? [] : await workersOf(deps, cluster, ctx);
  deps.blockers.follow(followerOf(scp), cluster === undefined || workers.length === 0 ? [] : workerBlockers(cluster));
  if (workers.length > 0) {
    const message = `waiting for ${workers.join(' and ')} of the Cluster to be deleted; delete its MachineDeployments and MachinePools`;
    const status = deletingStatus(scp, { reason: 'WaitingForWorkersDeletion', message }, ctx.now);
    return { finished: false, status, ...(deps.blockers.isUnwatched(followerOf(scp)) && { afterMs: countAgainMs }) };
  }
  if (isExternal(scp)) return finalizeExternal(deps, scp, ctx);
  // A paused TenantControlPlane would never release anything, and nothing resumes it once this object is deleted.
  await setTenantPause(deps, keyOf(scp), { paused: false, ctx });
  const waiting = (await removeTenant(deps, scp, ctx)) ?? (await removeRetained(deps, scp, ctx));
  return waiting === undefined ? { finished: true } : deletingFor(scp, waiting, ctx);
}

function deletingFor(
  scp: StewardControlPlane,
  { message, afterMs }: { readonly message: string; readonly afterMs?: number },
  { now }: Context,
): LastReconcile<StewardControlPlane> {
  return { finished: false, status: deletingStatus(scp, { reason: 'Deleting', message }, now), afterMs };
}

function workerBlockers({ metadata: { namespace, name } }: CapiCluster): readonly Blocker[] {
  const labelSelector = `${clusterNameLabel}=${name}`;
  return [capiMachine, capiMachinePool].map((kind) => ({ kind, namespace, labelSelector, optional: true }));
}

/** What still needs the API server, e.g. `3 Machines`. */
async function workersOf(
  deps: Dependencies,
  { metadata: { namespace, name } }: CapiCluster,
  { signal }: Context,
): Promise<readonly string[]> {
  const labelSelector = `${clusterNameLabel}=${name}`;
  const counted = await Promise.all(
    [capiMachine, capiMachinePool].map(async (kind) => {
      const options = { namespace, labelSelector, metadataOnly: true, signal };
      const { items } = await deps.cluster.list(kind, options).catch(noneOfKind);
      return items.length === 0 ? [] : [`${items.length} ${kind.kind}${items.length === 1 ? '' : 's'}`];
    }),
  );
  return counted.flat();
}

/** Where a kind is not installed there are none of it. */
function noneOfKind(error: unknown): { readonly items: readonly Resource[] } {
  if (error instanceof ApiError && error.code === 404) return { items: [] };
  throw error;
}

const keyOf = ({ metadata: { namespace, name } }: StewardControlPlane) => ({ namespace, name });

const isOwnedBy = ({ metadata }: Resource, owner: Resource): boolean =>
  metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) ?? false;

/** What the deletion waits for; undefined once our TenantControlPlane is gone. */
async function removeTenant(
  { cluster }: Dependencies,
  scp: StewardControlPlane,
  { signal }: Context,
): Promise<{ readonly message: string; readonly afterMs?: number } | undefined> {
  const key = keyOf(scp);
  const tenant = await cluster.get(tenantControlPlane, key, { signal });
  if (tenant === undefined || !isOwnedBy(tenant, scp)) return undefined;
  const { deletionTimestamp, uid } = tenant.metadata;
  if (deletionTimestamp === undefined) {
    try {
      await cluster.delete(tenantControlPlane, key, { uid, signal });
    } catch (error) {
      // Admission keeps it while its data moves to another store.
      if (!(error instanceof ApiError) || error.code !== 403) throw error;
      return { message: `the TenantControlPlane cannot be deleted now: ${error.message}`, afterMs: refusedMs };
    }
  }
  const why = deletingMessage(tenant);
  return { message: `waiting for the TenantControlPlane to be deleted${why === '' ? '' : `: ${why}`}` };
}

/**
 * From now on the TenantControlPlane removes its data when it is deleted: without its StewardControlPlane no
 * other one could adopt it.
 */
async function retainNoMore({ cluster }: Dependencies, scp: StewardControlPlane, { signal }: Context): Promise<void> {
  const key = keyOf(scp);
  const tenant = await cluster.get(tenantControlPlane, key, { signal });
  if (tenant === undefined || !isOwnedBy(tenant, scp)) return;
  if (tenant.metadata.annotations?.[annotations.deletionPolicy] === undefined) return;
  const { uid } = tenant.metadata;
  const body = { metadata: { uid, annotations: { [annotations.deletionPolicy]: null } } };
  await cluster.patch(tenantControlPlane, key, { type: 'merge', body }, { fieldManager, signal });
}

/** Deletes the record that no TenantControlPlane has adopted, which removes the data. Called when our TenantControlPlane is gone. */
async function removeRetained(
  { cluster }: Dependencies,
  scp: StewardControlPlane,
  { signal }: Context,
): Promise<{ readonly message: string; readonly afterMs?: number } | undefined> {
  const key = retainedKey(scp);
  const retained = await cluster.get(retainedControlPlane, key, { signal });
  if (retained?.spec.controllerUID !== scp.metadata.uid) return undefined;
  const { uid, deletionTimestamp, annotations: marks } = retained.metadata;
  const { [annotations.abandonData]: abandon } = scp.metadata.annotations ?? {};
  if (abandon === 'true' && marks?.[annotations.abandonData] !== abandon) {
    const body = { metadata: { uid, annotations: { [annotations.abandonData]: abandon } } };
    await cluster.patch(retainedControlPlane, key, { type: 'merge', body }, { fieldManager, signal });
  }
  if (deletionTimestamp === undefined) await cluster.delete(retainedControlPlane, key, { uid, signal });
  const why = deletingMessage(retained);
  return { message: `waiting for RetainedControlPlane ${key.name} to be deleted${why === '' ? '' : `: ${why}`}` };
}

const deletingMessage = ({ status }: { readonly status?: { readonly conditions?: readonly Condition[] } }): string =>
  status?.conditions?.find(({ type }) => type === 'Deleting')?.message ?? '';
