import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { messageOf } from '../../../runtime/reconcile/conditions.ts';
import type { Dependencies } from '../dependencies.ts';
import { setTenantPause } from '../tenant/tenant-pause.ts';
import { findHost } from './find-host.ts';
import { whoseTenant } from './tenant-owner.ts';

/**
 * Pauses the TenantControlPlane in the other cluster if it belongs to us: one that a move has not handed over to us yet is not changed.
 * The answer is why it could not be paused; a pause here does not wait for that.
 */
export async function pauseExternal(
  deps: Dependencies,
  scp: StewardControlPlane,
  ctx: Context,
): Promise<string | undefined> {
  try {
    const host = await findHost(deps, scp, ctx);
    if (host.is === 'waiting') return host.message;
    if (host.claim === undefined) return undefined;
    const key = { namespace: host.claim.namespace, name: host.claim.name };
    const tenant = await host.cluster.get(tenantControlPlane, key, { signal: ctx.signal });
    if (tenant === undefined || whoseTenant(tenant, scp, host.claim) !== 'ours') return undefined;
    await setTenantPause(host, key, { paused: true, ctx });
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
