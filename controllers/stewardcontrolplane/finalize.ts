import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ApiError } from '../../runtime/errors.ts';
import type { Context, LastVisit } from '../../runtime/controller.ts';
import { capiMachine } from '../../api/cluster-api/kinds.ts';
import { clusterNameLabel } from '../../api/cluster-api/names.ts';
import { clusterNameOf, clusterOf, whyNotOurs, whyPaused } from './cluster-of.ts';
import type { Dependencies } from './dependencies.ts';
import { deletingStatus, pausedStatus } from './status.ts';
import { setTenantPause } from './tenant-pause.ts';

/** How soon the Machines, which no watch of ours tells of, are counted again. */
const countAgainMs = 5_000;

/** How soon a deletion that was refused is tried again. */
const refusedMs = 2_000;

/**
 * Workers first, then the TenantControlPlane, then this object: core Cluster API takes its absence for the end of the
 * control plane, and skips draining workers once the control plane goes away.
 */
export async function finalize(
  deps: Dependencies,
  scp: StewardControlPlane,
  ctx: Context,
): Promise<LastVisit<StewardControlPlane>> {
  const named = await clusterOf(deps, scp, clusterNameOf(scp), ctx);
  const cluster = named === undefined || whyNotOurs(scp, named) !== undefined ? undefined : named;
  const paused = cluster === undefined ? undefined : whyPaused(scp, cluster);
  if (paused !== undefined) return { finished: false, status: pausedStatus(scp, paused, ctx.now) };
  const workers = cluster === undefined ? 0 : await workersOf(deps, scp, ctx);
  if (workers > 0) {
    const message = `waiting for ${workers} Machines of the Cluster to be gone; delete its MachineDeployments`;
    const status = deletingStatus(scp, { reason: 'WaitingForWorkersDeletion', message }, ctx.now);
    return { finished: false, status, afterMs: countAgainMs };
  }
  // A TenantControlPlane that rests would never let go; nobody else wakes it once this object is deleted.
  await setTenantPause(deps, scp, { paused: false, ctx });
  const waiting = await removeTenant(deps, scp, ctx);
  if (waiting === undefined) return { finished: true };
  const { message, afterMs } = waiting;
  const status = deletingStatus(scp, { reason: 'Deleting', message }, ctx.now);
  return { finished: false, status, ...(afterMs !== undefined && { afterMs }) };
}

async function workersOf({ cluster }: Dependencies, scp: StewardControlPlane, { signal }: Context): Promise<number> {
  const namespace = scp.metadata.namespace ?? '';
  const labelSelector = `${clusterNameLabel}=${clusterNameOf(scp) ?? ''}`;
  const machines = await cluster.list(capiMachine, { namespace, labelSelector, metadataOnly: true, signal });
  return machines.items.length;
}

/** What is waited for; undefined once there is no TenantControlPlane of ours. */
async function removeTenant(
  { cluster }: Dependencies,
  scp: StewardControlPlane,
  { signal }: Context,
): Promise<{ readonly message: string; readonly afterMs?: number } | undefined> {
  const key = { namespace: scp.metadata.namespace ?? '', name: scp.metadata.name ?? '' };
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
  return { message: `waiting for the TenantControlPlane to be gone${why === '' ? '' : `: ${why}`}` };
}
