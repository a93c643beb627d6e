/**
 * The bucket that kine v0.16 opens with `NewBackend`: a stream in which every field must equal kine's own, or kine does not
 * start. Fields are those of the JetStream API (`$JS.API.STREAM.CREATE`).
 */
export interface BucketStream {
  readonly name: string;
  readonly description: string;
  readonly subjects: readonly string[];
  readonly retention: 'limits';
  readonly storage: 'file';
  readonly discard: 'new';
  readonly num_replicas: number;
  readonly max_msgs: number;
  readonly max_msgs_per_subject: number;
  readonly max_bytes: number;
  readonly max_age: number;
  readonly max_msg_size: number;
  readonly max_consumers: number;
  readonly duplicate_window: number;
  readonly allow_rollup_hdrs: boolean;
  readonly deny_delete: boolean;
  readonly allow_direct: boolean;
}

/** The stream while a copy writes to it. */
export interface WrittenStream extends BucketStream {
  readonly subject_transform: { readonly src: string; readonly dest: string };
}

/** Versions of a key that are kept: kine's own number. */
export const bucketHistory = 10;

/** How kine describes its buckets. */
export const kineDescription = 'Holds kine key/values';

const twoMinutesNs = 120_000_000_000;

/** The stream behind a bucket. */
export function bucketStreamName(bucket: string): string {
  return `KV_${bucket}`;
}

/** Subject of a key of the bucket; `key` may end in wildcards. */
export function bucketSubject(bucket: string, key: string): string {
  return `$KV.${bucket}.${key}`;
}

/** A tenant's bucket. */
export function bucketStream(bucket: string, replicas: number): BucketStream {
  return {
    name: bucketStreamName(bucket),
    description: kineDescription,
    subjects: [bucketSubject(bucket, '>')],
    retention: 'limits',
    storage: 'file',
    discard: 'new',
    num_replicas: replicas,
    max_msgs: -1,
    max_msgs_per_subject: bucketHistory,
    max_bytes: -1,
    max_age: 0,
    max_msg_size: -1,
    max_consumers: -1,
    duplicate_window: twoMinutesNs,
    allow_rollup_hdrs: true,
    deny_delete: true,
    allow_direct: true,
  };
}

/** How the subjects begin to which the writers of a bucket publish. */
const writersPrefix = (bucket: string): string => `steward.writer.${bucket}.`;

/** The subject to which the writer with this token publishes what is to be stored under a subject of the bucket. */
export function writerSubject(bucket: string, token: string, subject: string): string {
  return `${writersPrefix(bucket)}${token}.${subject.slice(bucketSubject(bucket, '').length)}`;
}

/** The same stream, which in addition takes messages of the writer with this token, and of no other one. */
export function writtenStream(stream: BucketStream, bucket: string, token: string): WrittenStream {
  const src = writerSubject(bucket, token, bucketSubject(bucket, '>'));
  const dest = bucketSubject(bucket, '>');
  return { ...stream, subjects: [...stream.subjects, src], max_msg_size: -1, subject_transform: { src, dest } };
}

/**
 * The bucket while its tenant may not write: no subject leads to it, and what was under way is too large for it. Keys are read
 * as before.
 */
export function fencedStream(bucket: string, replicas: number): BucketStream {
  return { ...bucketStream(bucket, replicas), subjects: [`steward.fenced.${bucket}`], max_msg_size: 1 };
}
