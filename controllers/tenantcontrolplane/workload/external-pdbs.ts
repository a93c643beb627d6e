import { kinds } from '../../../api/core/kinds.ts';
import { tenantObjects } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InformerFactory } from '../../../runtime/cache/informer-factory.ts';

/** How PodDisruptionBudgets of others are watched: there are few, and only their identity is kept. */
export const budgetIdentities = { kind: kinds.PodDisruptionBudget, identityOnly: true } as const;

/** True when no control plane's own budget has this name. */
export function isForeignBudget(name: string, tenants: readonly TenantControlPlane[]): boolean {
  return !tenants.some(({ metadata }) => tenantObjects(metadata.name).podDisruptionBudget === name);
}

/**
 * The UIDs of the budgets in a namespace that Steward did not create, from the watch: the text changes when one is created or
 * deleted.
 */
export function foreignBudgetUids(informers: Pick<InformerFactory, 'informer'>, namespace: string): string {
  const isHere = ({ metadata }: { readonly metadata: { readonly namespace?: string } }): boolean =>
    metadata.namespace === namespace;
  const budgets = informers.informer(budgetIdentities).list().filter(isHere);
  if (budgets.length === 0) return '';
  const names = new Set(
    informers
      .informer({ kind: tenantControlPlane })
      .list()
      .filter(isHere)
      .map(({ metadata }) => tenantObjects(metadata.name).podDisruptionBudget),
  );
  const foreign = budgets.filter(({ metadata }) => !names.has(metadata.name));
  return foreign
    .map(({ metadata }) => metadata.uid)
    .sort()
    .join(' ');
}
