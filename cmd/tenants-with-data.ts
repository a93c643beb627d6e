import { retainedControlPlane } from '../api/steward/v1alpha1/retained-control-plane.ts';
import type { RetainedControlPlane } from '../api/steward/v1alpha1/retained-control-plane.ts';
import { retainedTenant } from '../api/steward/v1alpha1/retained-tenant.ts';
import { tenantControlPlane } from '../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../api/steward/v1alpha1/tenant-control-plane.ts';
import { UnreadableRecord } from '../api/steward/v1alpha1/unreadable-record.ts';
import type { Cluster } from '../runtime/client/cluster.ts';
import { ApiError } from '../runtime/client/errors.ts';

/** Whose data is retained. */
export interface RetainedTenants {
  readonly tenants: readonly TenantControlPlane[];
  /** Of what it is not known where its data is, e.g. `RetainedControlPlane name (why)`. */
  readonly unknown: readonly string[];
}

/** The deleted TenantControlPlanes whose data is retained. One record that cannot be read hides no other. */
export function retainedTenants(records: readonly RetainedControlPlane[]): RetainedTenants {
  const read = records.map((retained) => [retained, retainedTenant(retained)] as const);
  return {
    tenants: read.flatMap(([, former]) => (former instanceof UnreadableRecord ? [] : [former])),
    unknown: read.flatMap(([{ metadata }, former]) => {
      return former instanceof UnreadableRecord ? [`RetainedControlPlane ${metadata.name} (${former.why})`] : [];
    }),
  };
}

/** Every TenantControlPlane, and the deleted ones whose data is retained: all that a DataStore may hold data of. */
export async function tenantsWithData(
  cluster: Cluster,
  signal: AbortSignal,
): Promise<RetainedTenants & { readonly retained: readonly TenantControlPlane[] }> {
  const [{ items }, { tenants: retained, unknown }] = await Promise.all([
    cluster.list(tenantControlPlane, { signal }),
    cluster.list(retainedControlPlane, { signal }).then(({ items }) => retainedTenants(items), unlisted),
  ]);
  return { tenants: [...items, ...retained], retained, unknown };
}

/** Without the kind nothing is retained. Without permission to list it, it is unknown what is retained. */
function unlisted(error: unknown): RetainedTenants {
  if (!(error instanceof ApiError)) throw error;
  if (error.code === 404) return { tenants: [], unknown: [] };
  if (error.code === 403)
    return { tenants: [], unknown: [`RetainedControlPlanes, which cannot be listed (${error.message})`] };
  throw error;
}
