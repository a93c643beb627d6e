import { labels } from '../../api/names.ts';
import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { captureTenant } from '../ready/captured-tenant.ts';
import type { CapturedTenant } from '../ready/captured-tenant.ts';
import { tenantApiVersion } from '../ready/tenant.ts';

/** A finished control plane, ready to be applied by hand somewhere else, and its user of the datastore. */
export interface CapturedWithUser {
  readonly name: string;
  readonly objects: CapturedTenant;
  /** Common name of its client certificate, and name of its role. */
  readonly user: string;
}

interface Storage {
  readonly storage?: { readonly setup?: { readonly user?: string } };
}

/** Captures every tenant of a namespace, to be applied in another one. */
export async function captureTenants(
  { client }: ManagementCluster,
  { namespace, into }: { readonly namespace: string; readonly into: string },
): Promise<readonly CapturedWithUser[]> {
  const kinds = [
    ['v1', 'Secret'],
    ['v1', 'Service'],
    ['apps/v1', 'Deployment'],
  ] as const;
  const objects = (await Promise.all(kinds.map(([version, kind]) => client.list(version, kind, namespace)))).flat();
  const tenants = await client.list(tenantApiVersion, 'TenantControlPlane', namespace);
  return tenants.map(({ metadata, status }) => {
    const name = metadata?.name ?? '';
    const user = ((status ?? {}) as Storage).storage?.setup?.user;
    if (user === undefined) throw new Error(`TenantControlPlane ${name} has no status.storage.setup.user.`);
    return { name, user, objects: captureTenant(ofTenant(objects, name), into) };
  });
}

/** The objects of one tenant, by the label that Steward puts on all of them. */
function ofTenant(objects: readonly PlainObject[], name: string): readonly PlainObject[] {
  return objects.filter(({ metadata }) => metadata?.labels?.[labels.name] === name);
}
