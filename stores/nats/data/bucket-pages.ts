import { CompactedError, isCopied, largestPage, longestPage } from '../../tenancy-data.ts';
import type { StoredEntry } from '../../tenancy-data.ts';
import { bucketHistory, bucketStreamName } from './bucket.ts';
import { decodeEntry } from './kine-entry.ts';
import type { KineEntry } from './kine-entry.ts';
import { entrySubjects, keyOfSubject } from './kine-keys.ts';
import type { NatsClient } from '../client.ts';
import { readGroups } from './read-groups.ts';
import { readMessage } from './read-message.ts';
import { readStream } from './stream-reader.ts';
import type { StreamMessage } from './stream-reader.ts';

interface Version {
  readonly key: string;
  readonly seq: number;
  readonly storedAt: number;
  /** Bytes of its message. */
  readonly size: number;
}

/** A version as the entry that it is at this moment. */
export function entryOf(key: string, { value, lease }: KineEntry, storedAt: number): StoredEntry {
  if (lease <= 0) return { key, value };
  // An expired key that still exists is about to be removed.
  return { key, value, ttlMs: Math.max(storedAt + lease * 1000 - Date.now(), 1) };
}

/**
 * Every key as it was at a revision, in ascending order of its bytes. The bucket keeps ten versions of a key: throws
 * `CompactedError` when a key has changed more often since.
 */
export async function* bucketPages(
  client: NatsClient,
  bucket: string,
  revision: number,
): AsyncGenerator<readonly StoredEntry[]> {
  const versions = await versionsAt(client, bucket, revision);
  let page: StoredEntry[] = [];
  let size = 0;
  for await (const group of loadAhead(client, bucket, readGroups(versions))) {
    // Decoded one after the other: what compresses well is much larger than its message.
    for (const [{ key, storedAt }, data] of group) {
      const decoded = decodeEntry(data);
      if (decoded.is === 'deleted') continue;
      const entry = entryOf(key, decoded, storedAt);
      if (page.length === longestPage || (page.length > 0 && size + entry.value.length > largestPage)) {
        yield page;
        page = [];
        size = 0;
      }
      page.push(entry);
      size += entry.value.length;
    }
  }
  if (page.length > 0) yield page;
}

/** Which message holds each key at the revision. */
async function versionsAt(client: NatsClient, bucket: string, revision: number): Promise<readonly Version[]> {
  const found = new Map<string, Version | 'gone'>();
  const request = { stream: bucketStreamName(bucket), filter: entrySubjects(bucket), headersOnly: true };
  for await (const message of readStream(client, request)) {
    const key = keyOfSubject(bucket, message.subject);
    if (key === undefined || !isCopied(key)) continue;
    if (message.seq > revision) {
      if (!found.has(key)) found.set(key, absentAt(key, message));
    } else if (message.isMark) found.set(key, 'gone');
    else found.set(key, { key, seq: message.seq, storedAt: message.storedAt, size: message.size });
  }
  return [...found.values()]
    .filter((version) => version !== 'gone')
    .map((version) => ({ version, bytes: Buffer.from(version.key) }))
    .sort((left, right) => Buffer.compare(left.bytes, right.bytes))
    .map(({ version }) => version);
}

/** The oldest remaining version of a key is newer than the revision: if it created the key, the key did not exist before. */
function absentAt(key: string, { expected }: StreamMessage): 'gone' {
  if (expected === 0) return 'gone';
  throw new CompactedError(
    `${key} has changed more than ${bucketHistory} times since: NATS does not retain more versions`,
  );
}

type LoadedGroup = readonly (readonly [Version, Uint8Array])[];

/** The messages of each group. While the caller decodes one group, the next is requested. */
async function* loadAhead(
  client: NatsClient,
  bucket: string,
  groups: Iterable<readonly Version[]>,
): AsyncGenerator<LoadedGroup> {
  const loadGroup = (group: readonly Version[]): Promise<LoadedGroup> => {
    const loaded = Promise.all(group.map(async (version) => [version, await load(client, bucket, version)] as const));
    // The failure is thrown when this group is reached; until then it must not be an unhandled rejection.
    loaded.catch(() => undefined);
    return loaded;
  };
  let ahead: Promise<LoadedGroup> | undefined;
  for (const group of groups) {
    const before = ahead;
    ahead = loadGroup(group);
    if (before !== undefined) yield await before;
  }
  if (ahead !== undefined) yield await ahead;
}

/** The message of a version. */
async function load(client: NatsClient, bucket: string, version: Version): Promise<Uint8Array> {
  const data = await readMessage(client, bucketStreamName(bucket), version.seq);
  if (data === undefined) {
    throw new CompactedError(`${version.key} changed while it was read: NATS retains only ${bucketHistory} versions`);
  }
  return data;
}
