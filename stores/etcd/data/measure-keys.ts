import type { TenancyContent } from '../../driver.ts';
import type { KeyRange } from '../range.ts';
import type { EtcdDataCalls } from './data-client.ts';
import { etcdPages, newestRevision } from './pages.ts';

/**
 * The number of keys of a range, and their bytes with their newest values. etcd has no figure of bytes, and sizes without values would be guesses, so everything
 * is read: one page after the other, each as it is at that moment, so that no compaction can interrupt it and one page is in memory at a
 * time. Exact while nothing is written. Throws `StoreError` and the signal's reason.
 */
export async function measureKeys(
  client: Pick<EtcdDataCalls, 'page'>,
  range: KeyRange,
  signal: AbortSignal,
): Promise<TenancyContent> {
  let [keys, bytes] = [0, 0];
  for await (const page of etcdPages(client, range, newestRevision)) {
    keys += page.length;
    for (const { key, value } of page) bytes += key.length + value.length;
    signal.throwIfAborted();
  }
  return { keys, bytes };
}
