import type { Key } from '../../../api/meta.ts';
import { annotations } from '../../../api/names.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { capiGroup } from '../../../api/cluster-api/names.ts';
import type { Dependencies } from '../dependencies.ts';
import { fieldManager } from '../dependencies.ts';

/**
 * The TenantControlPlane of a paused control plane must not change either: it is paused and resumed with it. The
 * annotation has its own field manager, so that a pause which a person set is not removed.
 */
export async function setTenantPause(
  { cluster }: Pick<Dependencies, 'cluster'>,
  key: Key,
  { paused, ctx }: { readonly paused: boolean; readonly ctx: Context },
): Promise<void> {
  const tenant = await cluster.get(tenantControlPlane, key, { signal: ctx.signal });
  if (tenant !== undefined) await withPause({ cluster }, tenant, { paused, ctx });
}

/** The same for a TenantControlPlane that was just read; returns it as it is afterwards. */
export async function withPause(
  { cluster }: Pick<Dependencies, 'cluster'>,
  tenant: TenantControlPlane,
  { paused, ctx }: { readonly paused: boolean; readonly ctx: Context },
): Promise<TenantControlPlane> {
  const { namespace, name, annotations: marks } = tenant.metadata;
  const pause = marks?.[annotations.paused];
  if (paused ? pause !== undefined : pause !== capiGroup) return tenant;
  const { apiVersion, kind } = tenant;
  const metadata = { namespace, name, ...(paused ? { annotations: { [annotations.paused]: capiGroup } } : {}) };
  const options = { fieldManager: `${fieldManager}-pause`, signal: ctx.signal };
  return cluster.apply(tenantControlPlane, { apiVersion, kind, metadata }, options);
}
