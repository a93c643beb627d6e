import { annotations } from '../../api/names.ts';
import { hasAdopted } from '../../api/steward/v1alpha1/has-adopted.ts';
import { formerKey, retainedControlPlane } from '../../api/steward/v1alpha1/retained-control-plane.ts';
import type { RetainedControlPlane } from '../../api/steward/v1alpha1/retained-control-plane.ts';
import { retainedTenant } from '../../api/steward/v1alpha1/retained-tenant.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { UnreadableRecord } from '../../api/steward/v1alpha1/unreadable-record.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import type { Context } from '../../runtime/reconcile/controller.ts';
import type { Dependencies } from './dependencies.ts';
import type { Waiting } from './status.ts';

/** The delay until a forbidden removal is tried again, in milliseconds: no watch reports what the API server permits. */
const refusedMs = 2_000;

/**
 * Removes retained data that no TenantControlPlane has adopted; undefined once the record is not needed anymore. Both objects
 * are read from the API server: the TenantControlPlane that released the data, and the one that is named as the adopter,
 * may be responsible for the data until they are gone.
 */
export async function removeRetained(
  cached: RetainedControlPlane,
  deps: Dependencies,
  ctx: Context,
): Promise<Waiting | undefined> {
  const { cluster } = deps;
  const { signal } = ctx;
  const { name, uid } = cached.metadata;
  const retained = await cluster.get(retainedControlPlane, { name }, { signal });
  if (retained?.metadata.uid !== uid) return undefined;
  const key = formerKey(retained);
  const tcp = await cluster.get(tenantControlPlane, key, { signal });
  if (tcp !== undefined && hasAdopted(retained, tcp)) return undefined;
  const { formerUID, adopterUID } = retained.spec;
  if (tcp !== undefined && (tcp.metadata.uid === formerUID || tcp.metadata.uid === adopterUID)) {
    const message = `waiting for TenantControlPlane ${key.namespace}/${key.name}, which may still be responsible for the data, to adopt it or to be deleted`;
    return { reason: 'WaitingForTenantControlPlane', message };
  }
  if (retained.metadata.annotations?.[annotations.abandonData] === 'true') {
    ctx.event('Warning', 'DataAbandoned', 'the retained data is left in the datastore, as requested by the annotation');
    return undefined;
  }
  const former = retainedTenant(retained);
  if (former instanceof UnreadableRecord) {
    const message = `the retained data cannot be removed: ${former.why}. Fix this, or set the annotation ${annotations.abandonData} to "true" to leave the data in the datastore`;
    return { reason: 'RecordUnreadable', message };
  }
  try {
    const waiting = await deps.removeData(former, ctx);
    return waiting && { ...waiting, reason: 'WaitingForStore' };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 403) throw error;
    const message = `the retained data cannot be removed: ${error.message}`;
    return { reason: 'WaitingForStore', message, afterMs: refusedMs };
  }
}
