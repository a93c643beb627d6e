import { kinds } from '../../api/core/kinds.ts';
import { isSelected } from '../../api/core/label-selector.ts';
import type { KubeconfigGenerator } from '../../api/steward/v1alpha1/kubeconfig-generator.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../runtime/reconcile/controller.ts';
import type { Dependencies } from './dependencies.ts';

/** The TenantControlPlanes that a generator selects, by namespace and name; those on their way out are not among them. */
export async function selection(
  { spec }: KubeconfigGenerator,
  deps: Dependencies,
  ctx: Context,
): Promise<readonly TenantControlPlane[]> {
  const namespaces = await selectedNamespaces(spec.namespaceSelector, deps, ctx);
  return deps
    .tenants()
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .filter(({ metadata }) => namespaces === undefined || namespaces.has(metadata.namespace))
    .filter(({ metadata }) => isSelected(metadata.labels ?? {}, spec.tenantControlPlaneSelector ?? {}))
    .sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1));
}

/** As `namespace/name`. */
export function nameOf({ metadata }: TenantControlPlane): string {
  return `${metadata.namespace}/${metadata.name}`;
}

type Selector = NonNullable<KubeconfigGenerator['spec']['namespaceSelector']>;

/** Names of the namespaces; undefined for all. */
async function selectedNamespaces(
  selector: Selector = {},
  { cluster }: Dependencies,
  { signal }: Context,
): Promise<ReadonlySet<string> | undefined> {
  if (Object.keys(selector).length === 0) return undefined;
  const { items } = await cluster.list(kinds.Namespace, { metadataOnly: true, resourceVersion: '0', signal });
  return new Set(
    items.filter(({ metadata }) => isSelected(metadata.labels ?? {}, selector)).map(({ metadata }) => metadata.name),
  );
}
