import type { KindRef, Resource } from '../../../api/meta.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';

const freshMs = 60_000;

interface Known {
  readonly until: number;
  readonly found: Promise<readonly Resource[]>;
}

/**
 * Lists the objects of a kind in a namespace, from a cache of at most a minute. With another `edition`, which a watch provides,
 * they are listed again.
 */
export type RecentLists = <T extends Resource>(
  kind: KindRef<T>,
  namespace: string,
  edition?: string,
) => Promise<readonly T[]>;

/**
 * Lists of other owners' objects near tenants, read at most once a minute for each namespace, with any number of tenants.
 * Callers wait for a common read, which the end of one caller does not cancel. Throws the API server's error, after which
 * the next call reads again.
 */
export function recentListsOf(cluster: Cluster, clock: Clock): RecentLists {
  const known = new Map<string, Known>();
  return async <T extends Resource>(kind: KindRef<T>, namespace: string, edition = '') => {
    const now = clock.monotonic();
    for (const [key, { until }] of known) if (until <= now) known.delete(key);
    const key = `${kind.plural}.${kind.group} ${namespace} ${edition}`;
    const found = known.get(key)?.found ?? cluster.list(kind, { namespace }).then(({ items }) => items);
    if (!known.has(key)) known.set(key, { until: now + freshMs, found });
    try {
      // The value under the key of a kind is of that kind.
      return (await found) as readonly T[];
    } catch (error) {
      known.delete(key);
      throw error;
    }
  };
}
