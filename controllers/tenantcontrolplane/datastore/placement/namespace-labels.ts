import { kinds } from '../../../../api/core/kinds.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import { namespaceRefusal, needsLabels } from './namespace-refusal.ts';
import type { Origin } from './namespace-refusal.ts';

/** The origin of a tenant in a namespace; its labels are read only if one of the DataStores selects by labels. */
export async function originOf(
  namespace: string,
  stores: readonly DataStore[],
  { cluster, signal }: { readonly cluster: Pick<Cluster, 'get'>; readonly signal: AbortSignal },
): Promise<Origin> {
  if (!stores.some((store) => needsLabels(store, namespace))) return { namespace, labels: undefined };
  const found = await cluster.get(kinds.Namespace, { name: namespace }, { signal });
  return { namespace, labels: found?.metadata.labels ?? {} };
}

/** Why DataStores do not accept tenants from a namespace, by name; those that accept them are absent. */
export async function refusalsByStore(
  namespace: string,
  stores: readonly DataStore[],
  how: { readonly cluster: Pick<Cluster, 'get'>; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, string>> {
  const origin = await originOf(namespace, stores, how);
  return new Map(
    stores.flatMap((store) => {
      const refusal = namespaceRefusal(store, origin);
      return refusal === undefined ? [] : [[store.metadata.name, refusal] as const];
    }),
  );
}
