import { StoreError } from '../../store-error.ts';
import { bucketStreamName } from './bucket.ts';
import { raiseSubject } from './kine-keys.ts';
import { readBucket } from '../ensure-bucket.ts';
import type { NatsClient } from '../client.ts';

/** Messages that are sent before one is waited for. */
const burst = 5000;

/**
 * Makes the next sequence number of a bucket's stream greater than `revision`. The number of an empty stream can be set; a stream with
 * messages gets deletion markers for an unused key, of which it retains the last ten.
 */
export async function raiseSequence(
  client: NatsClient,
  bucket: string,
  revision: number,
  onProgress: (reached: bigint) => void = () => undefined,
): Promise<void> {
  const stream = bucketStreamName(bucket);
  const info = await readBucket(client, bucket);
  if (info === undefined) {
    throw new StoreError('Failed', `there is no bucket ${bucket} in NATS: it must be created first`);
  }
  let reached = info.state.last_seq;
  if (info.state.messages === 0 && reached < revision) {
    await client.api(`raise bucket ${bucket}`, `STREAM.PURGE.${stream}`, { seq: revision });
    // kine waits for the last message of a stream that has a number.
    reached = await mark(client, bucket);
    onProgress(BigInt(reached));
  }
  const connection = await client.connection();
  while (reached < revision) {
    const subject = raiseSubject(bucket);
    for (let left = Math.min(revision - reached, burst) - 1; left > 0; left -= 1) {
      connection.publish(subject, '', { headers: client.headers({ 'KV-Operation': 'DEL' }) });
    }
    reached = await mark(client, bucket);
    onProgress(BigInt(reached));
  }
}

async function mark(client: NatsClient, bucket: string): Promise<number> {
  return client.store(`raise bucket ${bucket}`, raiseSubject(bucket), '', { operation: 'DEL' });
}
