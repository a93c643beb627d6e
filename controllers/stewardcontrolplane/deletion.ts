import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { keptTenant } from '../../api/controlplane/kept-tenant.ts';
import { UnreadableRecord } from '../../api/controlplane/unreadable-record.ts';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import type { Resource } from '../../api/meta.ts';
import { annotations } from '../../api/names.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import type { Context, LastReconcile } from '../../runtime/reconcile/controller.ts';
import type { CapiCluster } from '../../api/cluster-api/kinds.ts';
import { capiMachine, capiMachinePool } from '../../api/cluster-api/kinds.ts';
import { clusterNameLabel } from '../../api/cluster-api/names.ts';
import { servedCluster, whyPaused } from './infrastructure/cluster-of.ts';
import type { Dependencies } from './dependencies.ts';
import { finalizeExternal, isMovedAway } from './hosting/finalize-external.ts';
import { isExternal } from './hosting/reference.ts';
import { followerOf } from './infrastructure/follower.ts';
import { isReleasing } from './tenant/is-releasing.ts';
import type { Blocker } from './infrastructure/blocker-watches.ts';
import { deletingStatus, pausedStatus } from './status.ts';
import { dataOwner } from './tenant/retained-record.ts';
import { setTenantPause } from './tenant/tenant-pause.ts';
import { clearRetainedTenancy } from './tenant/clear-retained-tenancy.ts';

/** How soon Machines that no watch reports are counted again. */
const countAgainMs = 5_000;

/** How soon a deletion that was refused is tried again. */
const refusedMs = 2_000;

/**
 * Workers first, then the TenantControlPlane, then this object: without it, core Cluster API considers the control plane
 * gone, and it no longer drains workers once the control plane is being deleted.
 */
export async function finalize(
  deps: Dependencies,
  reconciled: StewardControlPlane,
  ctx: Context,
): Promise<LastReconcile<StewardControlPlane>> {
  deps.infrastructure.leave(reconciled.metadata.uid ?? '');
  if (isExternal(reconciled) && isMovedAway(reconciled)) return finalizeExternal(deps, reconciled, ctx);
  const { cluster } = await servedCluster(deps, reconciled, ctx);
  const paused = whyPaused(reconciled, cluster);
  if (paused !== undefined) return { finished: false, status: pausedStatus(reconciled, paused, ctx.now) };
  const scp = await withoutReleasing(deps, reconciled, ctx);
  const workers = cluster === undefined ? [] : await workersOf(deps, cluster, ctx);
  deps.blockers.follow(followerOf(scp), cluster === undefined || workers.length === 0 ? [] : workerBlockers(cluster));
  if (workers.length > 0) {
    const message = `waiting for ${workers.join(' and ')} of the Cluster to be deleted; delete its MachineDeployments and MachinePools`;
    const status = deletingStatus(scp, { reason: 'WaitingForWorkersDeletion', message }, ctx.now);
    return { finished: false, status, ...(deps.blockers.isUnwatched(followerOf(scp)) && { afterMs: countAgainMs }) };
  }
  if (isExternal(scp)) return finalizeExternal(deps, scp, ctx);
  // A paused TenantControlPlane would never release anything; nobody else resumes it once this object is deleted.
  await setTenantPause(deps, keyOf(scp), { paused: false, ctx });
  const waiting = (await removeTenant(deps, scp, ctx)) ?? (await removeKept(deps, scp, ctx));
  if (waiting === undefined) return { finished: true };
  const { message, afterMs } = waiting;
  const status = deletingStatus(scp, { reason: 'Deleting', message }, ctx.now);
  return { finished: false, status, ...(afterMs !== undefined && { afterMs }) };
}

function workerBlockers({ metadata: { namespace = '', name = '' } }: CapiCluster): readonly Blocker[] {
  const labelSelector = `${clusterNameLabel}=${name}`;
  return [capiMachine, capiMachinePool].map((kind) => ({ kind, namespace, labelSelector, optional: true }));
}

/** What still needs the API server, e.g. `3 Machines`. */
async function workersOf(
  deps: Dependencies,
  { metadata: { namespace = '', name = '' } }: CapiCluster,
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

const keyOf = ({ metadata: { namespace = '', name = '' } }: StewardControlPlane) => ({ namespace, name });

/** The same without a record of data for which the TenantControlPlane answers again, which waits for that. */
async function withoutReleasing(
  { cluster }: Dependencies,
  scp: StewardControlPlane,
  { signal }: Context,
): Promise<StewardControlPlane> {
  if (scp.status?.keptTenancy === undefined) return scp;
  const tenant = await cluster.get(tenantControlPlane, keyOf(scp), { signal });
  return isReleasing(scp, tenant) ? { ...scp, status: clearRetainedTenancy(scp.status) } : scp;
}

/** What the deletion waits for; undefined once our TenantControlPlane is gone. */
async function removeTenant(
  { cluster }: Dependencies,
  scp: StewardControlPlane,
  { signal }: Context,
): Promise<{ readonly message: string; readonly afterMs?: number } | undefined> {
  const key = keyOf(scp);
  const tenant = await cluster.get(tenantControlPlane, key, { signal });
  const isOurs = tenant?.metadata.ownerReferences?.some(({ uid }) => uid === scp.metadata.uid) ?? false;
  if (tenant === undefined || !isOurs) return undefined;
  const { deletionTimestamp, uid } = tenant.metadata;
  if (deletionTimestamp === undefined) {
    try {
      await cluster.delete(tenantControlPlane, key, { ...(uid === undefined ? {} : { uid }), signal });
    } catch (error) {
      // Admission keeps it while its data moves to another store.
      if (!(error instanceof ApiError) || error.code !== 403) throw error;
      return { message: `the TenantControlPlane cannot be deleted now: ${error.message}`, afterMs: refusedMs };
    }
  }
  const why = tenant.status?.conditions?.find(({ type }) => type === 'Deleting')?.message ?? '';
  return { message: `waiting for the TenantControlPlane to be deleted${why === '' ? '' : `: ${why}`}` };
}

/**
 * Removes retained data that no TenantControlPlane has adopted. Called when our TenantControlPlane is gone, with this
 * object read from the API server: a TenantControlPlane releases its data to this object only while this object is not
 * being deleted, and before it is gone.
 */
async function removeKept(
  { cluster, removeData }: Dependencies,
  scp: StewardControlPlane,
  ctx: Context,
): Promise<{ readonly message: string; readonly afterMs?: number } | undefined> {
  const found = await cluster.get(stewardControlPlane, keyOf(scp), { signal: ctx.signal });
  if (found?.metadata.uid !== scp.metadata.uid || found?.status?.keptTenancy === undefined) return undefined;
  if (found.metadata.annotations?.[annotations.abandonData] === 'true') {
    ctx.event('Warning', 'DataAbandoned', 'the retained data is left in the datastore, as requested by the annotation');
    return undefined;
  }
  const former = keptTenant(found);
  if (former === undefined) return undefined;
  if (former instanceof UnreadableRecord) {
    const message = `the retained data cannot be removed: ${former.why}. Fix this, or set the annotation ${annotations.abandonData} to "true" to leave the data in the datastore`;
    return { message };
  }
  const tenant = await cluster.get(tenantControlPlane, keyOf(scp), { signal: ctx.signal });
  // It was adopted by one that is not ours any more.
  if (tenant !== undefined && dataOwner(tenant) === dataOwner(former)) return undefined;
  if (removeData === undefined) return { message: 'the retained data cannot be removed by this manager' };
  try {
    return await removeData(former, ctx);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 403) throw error;
    return { message: `the retained data cannot be removed: ${error.message}`, afterMs: refusedMs };
  }
}
