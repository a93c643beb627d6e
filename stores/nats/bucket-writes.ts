import type { NatsClient } from './client.ts';
import { readBucket } from './ensure-bucket.ts';

/**
 * The messages that were ever stored in a bucket; undefined when there is none. kine stores two when it deletes a key, and a few when it
 * starts and when it compacts.
 */
export async function bucketWrites(client: NatsClient, bucket: string): Promise<number | undefined> {
  return (await readBucket(client, bucket))?.state.last_seq;
}
