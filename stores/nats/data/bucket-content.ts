import type { TenancyContent } from '../../driver.ts';
import { bucketStreamName } from './bucket.ts';
import { decodeEntry } from './kine-entry.ts';
import type { KineEntry } from './kine-entry.ts';
import { entrySubjects, keyOfSubject } from './kine-keys.ts';
import type { NatsClient } from '../client.ts';
import { CorruptValueError } from './s2-block.ts';
import { readStream } from './stream-reader.ts';

/**
 * The live keys of a bucket. The newest version of each is read, because the server keeps those of deleted keys as well, and does not know
 * what is inside. Throws `StoreError` and the signal's reason.
 */
export async function bucketContent(client: NatsClient, bucket: string, signal: AbortSignal): Promise<TenancyContent> {
  const request = { stream: bucketStreamName(bucket), filter: entrySubjects(bucket), last: true };
  let [keys, bytes] = [0, 0];
  for await (const { subject, isMark, data } of readStream(client, request)) {
    signal.throwIfAborted();
    if (isMark || keyOfSubject(bucket, subject) === undefined) continue;
    const entry = readable(data);
    if (entry?.is === 'deleted') continue;
    keys += 1;
    // What only the tenant can have written occupies what it occupies.
    bytes += entry === undefined ? data.length : Buffer.byteLength(entry.key) + entry.value.length;
  }
  return { keys, bytes };
}

/** Undefined for what is not in kine's format. */
function readable(data: Uint8Array): KineEntry | undefined {
  try {
    return decodeEntry(data);
  } catch (error) {
    if (!(error instanceof CorruptValueError)) throw error;
    return undefined;
  }
}
