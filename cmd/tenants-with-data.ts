import { keptTenant } from '../api/controlplane/kept-tenant.ts';
import type { StewardControlPlane } from '../api/controlplane/steward-control-plane.ts';
import { stewardControlPlane } from '../api/controlplane/steward-control-plane.ts';
import { UnreadableRecord } from '../api/controlplane/unreadable-record.ts';
import { tenantControlPlane } from '../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Cluster } from '../runtime/client/cluster.ts';
import { ApiError } from '../runtime/client/errors.ts';

/** Whose data there is. */
export interface TenantsWithData {
  readonly tenants: readonly TenantControlPlane[];
  /** Of what it is not known where its data is, e.g. `StewardControlPlane ns/name (why)`. */
  readonly unknown: readonly string[];
}

/** The TenantControlPlanes that are gone and whose data is kept for the next ones. One record that cannot be read hides no other. */
export function keptTenants(controlPlanes: readonly StewardControlPlane[]): TenantsWithData {
  const read = controlPlanes.map((scp) => [scp, keptTenant(scp)] as const);
  return {
    tenants: read.flatMap(([, kept]) => (kept === undefined || kept instanceof UnreadableRecord ? [] : [kept])),
    unknown: read.flatMap(([{ metadata }, kept]) => {
      const name = `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
      return kept instanceof UnreadableRecord ? [`StewardControlPlane ${name} (${kept.why})`] : [];
    }),
  };
}

/** Every TenantControlPlane, and those that are gone and whose data is kept: all that a DataStore may hold data of. */
export async function tenantsWithData(cluster: Cluster, signal: AbortSignal): Promise<TenantsWithData> {
  const [tenants, kept] = await Promise.all([
    cluster.list(tenantControlPlane, { signal }),
    cluster.list(stewardControlPlane, { signal }).then(({ items }) => keptTenants(items), unlisted),
  ]);
  return { ...kept, tenants: [...tenants.items, ...kept.tenants] };
}

/** Without the kinds of the Cluster API part nothing is retained. Without permission to list them it is unknown what is retained. */
function unlisted(error: unknown): TenantsWithData {
  if (!(error instanceof ApiError)) throw error;
  if (error.code === 404) return { tenants: [], unknown: [] };
  if (error.code === 403)
    return { tenants: [], unknown: [`StewardControlPlanes, which cannot be listed (${error.message})`] };
  throw error;
}
