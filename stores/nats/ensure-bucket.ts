import { isDeepStrictEqual } from 'node:util';
import { bucketStream, bucketStreamName, fencedStream } from './data/bucket.ts';
import type { BucketStream } from './data/bucket.ts';
import type { NatsClient } from './client.ts';
import { isRefusal } from './errors.ts';

/** What a server says of a stream. */
export interface StreamInfo {
  readonly config: Readonly<Record<string, unknown>> & { readonly subjects?: unknown; readonly description?: unknown };
  readonly state: { readonly messages: number; readonly last_seq: number; readonly bytes: number };
  readonly cluster?: { readonly replicas?: readonly { readonly lag?: number; readonly current?: boolean }[] };
}

/** The stream behind a bucket; undefined when there is none. */
export async function readBucket(client: NatsClient, bucket: string): Promise<StreamInfo | undefined> {
  try {
    return await client.api<StreamInfo>(`read bucket ${bucket}`, `STREAM.INFO.${bucketStreamName(bucket)}`);
  } catch (error) {
    if (isRefusal(error, 'noStream')) return undefined;
    throw error;
  }
}

/** True if the stream is configured as requested; additional fields of the server do not count. */
export function isLike({ config }: StreamInfo, wanted: BucketStream): boolean {
  return Object.entries(wanted).every(([field, value]) => isDeepStrictEqual(config[field], value));
}

/** Creates a stream, or updates it to the wanted configuration. */
export async function keepStream(client: NatsClient, wanted: { readonly name: string }): Promise<void> {
  try {
    await client.api(`create stream ${wanted.name}`, `STREAM.CREATE.${wanted.name}`, wanted);
  } catch (error) {
    if (!isRefusal(error, 'otherStream')) throw error;
    await client.api(`update stream ${wanted.name}`, `STREAM.UPDATE.${wanted.name}`, wanted);
  }
}

/** Creates a bucket, or updates it to the configuration that kine requires. A fenced bucket stays fenced. */
export async function keepBucket(client: NatsClient, bucket: string, replicas: number): Promise<void> {
  const wanted = bucketStream(bucket, replicas);
  const info = await readBucket(client, bucket);
  if (info === undefined) {
    await client.api(`create bucket ${bucket}`, `STREAM.CREATE.${wanted.name}`, wanted);
    return;
  }
  const fenced = fencedStream(bucket, replicas);
  if (isLike(info, wanted) || isLike(info, fenced)) return;
  const { subjects } = info.config;
  const isFenced = Array.isArray(subjects) && subjects.includes(fenced.subjects[0]);
  await client.api(`update bucket ${bucket}`, `STREAM.UPDATE.${wanted.name}`, isFenced ? fenced : wanted);
}

/** The streams of the account. */
export async function listStreams(client: NatsClient): Promise<readonly string[]> {
  const found: string[] = [];
  for (;;) {
    const { streams, total } = await client.api<{ streams: readonly string[] | null; total: number }>(
      'list the streams',
      'STREAM.NAMES',
      { offset: found.length },
    );
    found.push(...(streams ?? []));
    if (streams === null || streams.length === 0 || found.length >= total) return found;
  }
}

/** Deletes a stream with its messages and consumers; succeeds when it does not exist. */
export async function deleteStream(client: NatsClient, stream: string): Promise<void> {
  try {
    await client.api(`delete stream ${stream}`, `STREAM.DELETE.${stream}`);
  } catch (error) {
    if (!isRefusal(error, 'noStream')) throw error;
  }
}
