import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from '../../store-error.ts';
import { bucketStreamName, fencedStream, bucketStream } from './bucket.ts';
import { readBucket } from '../ensure-bucket.ts';
import type { NatsClient } from '../client.ts';
import type { KnownAccount, NatsSystem } from '../system.ts';
import { tenantAccount, tenantPermissions } from '../grants.ts';
import type { AccountClaims, Standing } from '../grants.ts';

/** Blocks a tenant's writes and allows them again. */
export interface BucketFence {
  up(): Promise<void>;
  down(): Promise<void>;
}

/**
 * The fence of a tenant with an account: the account's permissions, which servers apply to open connections before they answer. Its kine
 * continues to serve reads, also one that starts now.
 */
export function accountFence(system: NatsSystem, schema: string): BucketFence {
  const stand =
    (standing: Standing) =>
    (current: KnownAccount | undefined): AccountClaims => {
      if (current === undefined)
        throw new StoreError('Failed', `there is no account ${schema} in NATS: it must be created first`);
      const { subject, nats } = current;
      return { subject, name: schema, nats: { ...nats, default_permissions: tenantPermissions(schema, standing) } };
    };
  return {
    up: () => system.keepAccount(tenantAccount(schema), stand('fenced')),
    down: () => system.keepAccount(tenantAccount(schema), stand('open')),
  };
}

/**
 * The fence of a datastore whose credentials the manager shares with the tenant: the bucket no longer accepts messages. Its kine
 * continues to serve reads, but one that starts while the fence is up finds a bucket with another configuration, and exits until
 * the fence is down.
 */
export function streamFence(client: NatsClient, bucket: string, replicas: number): BucketFence {
  const update = async (stream: object): Promise<void> => {
    await client.api(`update bucket ${bucket}`, `STREAM.UPDATE.${bucketStreamName(bucket)}`, stream);
  };
  return {
    up: () => update(fencedStream(bucket, replicas)),
    down: () => update(bucketStream(bucket, replicas)),
  };
}

const quietMs = 50;
const quietMsOfCluster = 250;
const mostRounds = 40;

/**
 * Waits until no message is on its way to the bucket anymore: what a server accepted just before the fence takes another moment, longer
 * between servers.
 */
export async function untilQuiet(client: NatsClient, bucket: string): Promise<void> {
  const { info } = await client.connection();
  const pause = info?.cluster === undefined ? quietMs : quietMsOfCluster;
  let before = -1;
  for (let round = 0; round < mostRounds; round += 1) {
    const seq = (await readBucket(client, bucket))?.state.last_seq ?? 0;
    if (seq === before) return;
    before = seq;
    await delay(pause);
  }
  throw new StoreError(
    'Failed',
    `bucket ${bucket} is still written to although its tenant is read-only: someone else has its credentials`,
  );
}
