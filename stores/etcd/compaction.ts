import { CompactedError } from '../tenancy-data.ts';
import type { EtcdCalls, Permission } from './client.ts';
import type { EtcdDataCalls } from './data/data-client.ts';
import { WatchCompactedError } from './data/watch.ts';
import type { EtcdWatch } from './data/watch.ts';
import type { KeyRange } from './range.ts';

/**
 * Where API servers find, as decimal text, up to which revision their etcd was compacted. All API servers of an etcd share the
 * key, which is below no prefix. Source: k8s.io/apiserver/pkg/storage/etcd3/compact.go.
 */
const key = 'compact_rev_key';

const range: KeyRange = { start: Buffer.from(key), end: Buffer.from(`${key}\0`) };

/** Lets a tenant's API server watch the key. It must not write it, because all tenants of the etcd rely on it. */
export const compactionPermission: Permission = { type: 'Read', range };

/** Milliseconds within which a member says that a watch starts too early. */
const patienceMs = 5000;

interface DataCalls extends Pick<EtcdDataCalls, 'count' | 'page'> {
  watch(range: KeyRange, from: bigint): Promise<Pick<EtcdWatch, 'next'> & AsyncDisposable>;
}

type Calls = Pick<EtcdCalls, 'get' | 'replace'> & { readonly data: DataCalls };

/**
 * Writes the key if etcd was compacted since. API servers write it themselves when they compact; those of tenants may not, and
 * etcd, which compacts by itself, does not know the key. Throws `StoreError`.
 */
export async function publishCompaction(client: Calls): Promise<void> {
  const [published, { revision }] = await Promise.all([client.get(key), client.data.count(range)]);
  const compacted = await compactedAfter(client, known(published, revision));
  if (compacted === undefined) return;
  // When it has changed meanwhile, another manager has written the same.
  await client.replace(key, { before: published, after: compacted.toString() });
}

/** The revision in the key; the first one if it has none, or is ahead of an etcd that was restored from a backup. */
function known(published: string | undefined, revision: bigint): bigint {
  if (published === undefined || !/^[1-9]\d{0,18}$/.test(published)) return 1n;
  return BigInt(published) > revision ? 1n : BigInt(published);
}

/** Up to which revision etcd was compacted, if that is after `since`. etcd reports it only to a watch that starts too early. */
async function compactedAfter({ data }: Calls, since: bigint): Promise<bigint | undefined> {
  if (!(await isCompacted(data, since))) return undefined;
  await using watch = await data.watch(range, since);
  try {
    await watch.next(patienceMs);
  } catch (error) {
    if (error instanceof WatchCompactedError) return error.revision;
    throw error;
  }
  // A member that has yet to compact: the next call finds out.
  return undefined;
}

async function isCompacted(data: Calls['data'], revision: bigint): Promise<boolean> {
  try {
    await data.page(range, revision, 1);
    return false;
  } catch (error) {
    if (error instanceof CompactedError) return true;
    throw error;
  }
}
