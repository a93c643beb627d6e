import type { TenancySize } from '../driver.ts';
import type { NatsClient } from './client.ts';
import { bucketContent } from './data/bucket-content.ts';
import { readBucket } from './ensure-bucket.ts';

/**
 * Bytes of all messages of a bucket, among them the previous versions that it keeps, in one of its replicas, and its live keys; undefined
 * when there is none.
 */
export async function bucketSize(
  client: NatsClient,
  bucket: string,
  signal: AbortSignal,
): Promise<TenancySize | undefined> {
  const info = await readBucket(client, bucket);
  if (info === undefined) return undefined;
  return { bytes: info.state.bytes, content: await bucketContent(client, bucket, signal), writes: info.state.last_seq };
}
