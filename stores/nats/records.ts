import type { Tenancy } from '../driver.ts';
import { StoreError } from '../store-error.ts';
import { bucketStreamName, bucketSubject } from './data/bucket.ts';
import type { NatsClient } from './client.ts';
import { isRefusal } from './errors.ts';
import { recordsBucket } from './names.ts';
import { onceSettled } from './retry-until-propagated.ts';

/** Who holds names. */
export interface OwnershipRecord {
  readonly owner: string;
  readonly schema: string;
  readonly user: string;
}

/** The bucket of the ownership records: a key is created only if it does not exist, also with concurrent callers. */
export interface Records {
  read(key: string): Promise<OwnershipRecord | undefined>;
  /** False when the key is there already. */
  create(key: string, record: OwnershipRecord): Promise<boolean>;
  forget(key: string): Promise<void>;
}

const stream = bucketStreamName(recordsBucket);
const subject = (key: string): string => bucketSubject(recordsBucket, key);

/** The stream behind the records: one version of a key, which stays until it is forgotten. */
export function recordsStream(replicas: number) {
  return {
    name: stream,
    description: 'Owners of tenancies, kept by Steward',
    subjects: [bucketSubject(recordsBucket, '>')],
    retention: 'limits',
    storage: 'file',
    discard: 'new',
    num_replicas: replicas,
    max_msgs_per_subject: 1,
    allow_rollup_hdrs: true,
    deny_delete: false,
    allow_direct: false,
  } as const;
}

/** The records in a bucket of an account. Messages are removed as a whole, so that a forgotten owner leaves no trace. */
export function bucketRecords(client: NatsClient): Records {
  return {
    read: async (key) => {
      const text = await recordText(client, key);
      return text === undefined ? undefined : parseRecord(key, text);
    },
    create: async (key, record) => {
      try {
        // The bucket may have been made a moment ago: servers of a cluster learn of its subscription one after the other.
        await onceSettled(() => client.store('record the owner', subject(key), JSON.stringify(record), { last: 0 }));
        return true;
      } catch (error) {
        if (isRefusal(error, 'wrongLast')) return false;
        throw error;
      }
    },
    forget: async (key) => {
      await client.api(`delete the owner at ${key}`, `STREAM.PURGE.${stream}`, { filter: subject(key) });
    },
  };
}

/** What is recorded at a key, as it was stored; undefined when there is nothing. */
export async function recordText(client: NatsClient, key: string): Promise<string | undefined> {
  try {
    // Read from the stream's leader, because replicas may lag behind.
    const { message } = await client.api<{ message: { data?: string } }>(
      `read the record at ${key}`,
      `STREAM.MSG.GET.${stream}`,
      { last_by_subj: subject(key) },
    );
    return Buffer.from(message.data ?? '', 'base64').toString('utf8');
  } catch (error) {
    if (isRefusal(error, 'noMessage') || isRefusal(error, 'noStream')) return undefined;
    throw error;
  }
}

/** Reads a record. Throws `StoreError`. */
export function parseRecord(key: string, text: string): OwnershipRecord {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Reported below, like other unreadable records.
    value = undefined;
  }
  if (typeof value === 'object' && value !== null && 'owner' in value && 'schema' in value && 'user' in value) {
    const { owner, schema, user } = value;
    if (typeof owner === 'string' && typeof schema === 'string' && typeof user === 'string')
      return { owner, schema, user };
  }
  throw new StoreError(
    'Failed',
    `the ownership record at key ${key} of the NATS bucket ${recordsBucket} cannot be read: restore it or, if its tenant no longer exists, delete it`,
  );
}

/** True when the record is of this tenancy of this owner. */
export function isOf(record: OwnershipRecord, { owner, schema, user }: Tenancy): boolean {
  return record.owner === owner && record.schema === schema && record.user === user;
}
