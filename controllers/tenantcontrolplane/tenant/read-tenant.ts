import type { Key, KindRef, Resource } from '../../../api/meta.ts';
import { textOf } from '../../../runtime/cache/object-id.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { selectionInTenant } from '../shared/selection-in-tenant.ts';

/** Reads an object of Steward inside a tenant; undefined when it is absent or was not found. */
export type ReadInTenant = (kind: KindRef, key: Key) => Promise<Resource | undefined>;

/** If more objects than this have our label, the tenant created them. */
const maxListed = 200;

/** Neither is a list that is larger than this, in characters, only of ours; several are kept until the end of a reconcile. */
const maxCharacters = 1024 * 1024;

function isLarge(items: readonly Resource[]): boolean {
  let characters = 0;
  return items.some((item) => (characters += JSON.stringify(item).length) > maxCharacters);
}

/**
 * Reads the objects of Steward inside a tenant, with one list for each kind, when the first of the kind is needed. What cannot be read
 * counts as not found: then it is applied.
 */
export function readTenant(cluster: Cluster, signal: AbortSignal): ReadInTenant {
  const lists = new Map<KindRef, Promise<ReadonlyMap<string, Resource>>>();
  const list = async (kind: KindRef): Promise<ReadonlyMap<string, Resource>> => {
    try {
      const options = { ...selectionInTenant(kind), page: { limit: maxListed }, signal };
      const { items } = await cluster.list<Resource>(kind, options);
      return new Map(isLarge(items) ? [] : items.map((item) => [textOf(item.metadata), item]));
    } catch {
      signal.throwIfAborted();
      return new Map();
    }
  };
  return async (kind, key) => {
    const found = lists.get(kind) ?? list(kind);
    lists.set(kind, found);
    return (await found).get(textOf(key));
  };
}
