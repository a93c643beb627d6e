import { deleteForMoveAnnotation } from '../../../api/cluster-api/names.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../../api/core/kinds.ts';
import { annotations, finalizers } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context, LastReconcile } from '../../../runtime/reconcile/controller.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import { isForceDeleted } from '../tenant/is-force-deleted.ts';
import type { Dependencies } from '../dependencies.ts';
import { fieldManager } from '../dependencies.ts';
import { refusalOf } from '../infrastructure/refusal.ts';
import { deletingStatus } from '../status.ts';
import { setTenantPause } from '../tenant/tenant-pause.ts';
import { externalTenantName } from './claim.ts';
import type { FoundHost } from './find-host.ts';
import { claimKey, findHost, hostTrouble } from './find-host.ts';
import { heldTenantName } from './keep-claim.ts';
import { isMade } from './reference.ts';
import { whoseTenant } from './tenant-owner.ts';

/** The poll interval for changes that no watch reports, in milliseconds. */
const lookAgainMs = 30_000;

/** What the deletion waits for; undefined if nothing of ours is left there. */
type Left = { readonly message: string; readonly afterMs?: number } | undefined;

/**
 * True when the StewardControlPlane goes without its TenantControlPlane: clusterctl has moved it to another management cluster, whose
 * StewardControlPlane has the TenantControlPlane now.
 */
export function isMovedAway({ metadata }: StewardControlPlane): boolean {
  return metadata.annotations?.[deleteForMoveAnnotation] !== undefined;
}

/**
 * The TenantControlPlane in the other cluster first, then this object. It waits for a cluster that does not answer; if that is gone
 * for good, a person sets the annotation that the condition names.
 */
export async function finalizeExternal(
  deps: Dependencies,
  scp: StewardControlPlane,
  ctx: Context,
): Promise<LastReconcile<StewardControlPlane>> {
  const left = await whatIsLeft(deps, scp, ctx);
  if (left === undefined) {
    deps.external?.clusters.release(scp.metadata.uid);
    return { finished: true };
  }
  const { message, afterMs } = left;
  const status = deletingStatus(scp, { reason: 'Deleting', message }, ctx.now);
  return { finished: false, status, afterMs };
}

async function whatIsLeft(deps: Dependencies, scp: StewardControlPlane, ctx: Context): Promise<Left> {
  if (isMovedAway(scp)) return undefined;
  if (scp.metadata.annotations?.[annotations.abandonExternal] === 'true') {
    ctx.event(
      'Warning',
      'Abandoned',
      'its TenantControlPlane in the hosting cluster was not deleted and may still be running',
    );
    return undefined;
  }
  if (await isUntouched(deps, scp, ctx)) return undefined;
  const host = await findHost(deps, scp, ctx);
  if (host.is === 'waiting') return stuck(host);
  try {
    return await removeTenant(host, scp, ctx);
  } catch (error) {
    // Admission there keeps it while its data moves to another store.
    const refusal = refusalOf(error);
    if (refusal !== undefined) return { message: `it cannot be deleted now: ${refusal.message}`, afterMs: lookAgainMs };
    if (error instanceof ApiError && error.code === 404) {
      return stuck({ message: 'the hosting cluster no longer serves TenantControlPlanes', afterMs: lookAgainMs });
    }
    const trouble = hostTrouble(host.cluster, host.namespace, error);
    if (trouble === undefined) throw error;
    return stuck(trouble);
  }
}

/** True when nothing can have been made there: the claim is written before. */
async function isUntouched({ cluster }: Dependencies, scp: StewardControlPlane, { signal }: Context): Promise<boolean> {
  if (isMade(scp) || (scp.metadata.finalizers ?? []).includes(finalizers.externalCluster)) return false;
  return (await cluster.get(kinds.Secret, claimKey(scp), { signal })) === undefined;
}

function stuck({ message, afterMs }: NonNullable<Left>): NonNullable<Left> {
  const help = `if the hosting cluster, or the TenantControlPlane in it, is gone for good, annotate this object with ${annotations.abandonExternal}=true`;
  return { message: `the TenantControlPlane cannot be removed: ${message}; ${help}`, afterMs };
}

async function removeTenant(host: FoundHost, scp: StewardControlPlane, ctx: Context): Promise<Left> {
  const { signal } = ctx;
  const name = host.claim?.name ?? (await heldTenantName(host, scp, ctx)) ?? externalTenantName(scp);
  const key = { namespace: host.namespace, name };
  const tenant = await find(host, key.name, signal);
  if (tenant === undefined) return undefined;
  const whose = whoseTenant(tenant, scp, host.claim);
  if (whose === 'lost' || whose === 'foreign') {
    ctx.event(
      'Warning',
      'LeftAlone',
      `the TenantControlPlane ${key.namespace}/${name} of the hosting cluster does not belong to this object`,
    );
    return undefined;
  }
  await setTenantPause(host, key, { paused: false, ctx });
  const { uid, deletionTimestamp } = tenant.metadata;
  if (deletionTimestamp === undefined) {
    // Admission there knows of no owner that would recreate it, and refuses a deletion without this annotation.
    const body = { metadata: { annotations: { [annotations.deleteAnyway]: 'true' } } };
    if (!isForceDeleted(tenant)) {
      await host.cluster.patch(tenantControlPlane, key, { type: 'merge', body }, { fieldManager, signal });
    }
    await host.cluster.delete(tenantControlPlane, key, { uid, signal });
  }
  const why = tenant.status?.conditions?.find(({ type }) => type === 'Deleting')?.message ?? '';
  const message = `waiting for the TenantControlPlane ${key.namespace}/${name} of the hosting cluster to be deleted`;
  // The watch there reports when it is gone; should the watch be lost, too, this does.
  return { message: why === '' ? message : `${message}: ${why}`, afterMs: lookAgainMs };
}

/** Listed by its name: to a single one a server without the API would answer as if it were gone. */
async function find(
  { cluster, namespace }: FoundHost,
  name: string,
  signal: AbortSignal,
): Promise<TenantControlPlane | undefined> {
  const { items } = await cluster.list(tenantControlPlane, {
    namespace,
    fieldSelector: `metadata.name=${name}`,
    signal,
  });
  return items[0];
}
