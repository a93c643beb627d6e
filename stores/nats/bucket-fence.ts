import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from '../store-error.ts';
import { bucketStreamName, fencedStream, bucketStream } from './bucket.ts';
import { readBucket } from './keep-bucket.ts';
import type { NatsClient } from './nats-client.ts';
import type { KnownAccount, NatsSystem } from './nats-system.ts';
import { tenantAccount, tenantPermissions } from './tenant-account.ts';
import type { AccountClaims, Standing } from './tenant-account.ts';

/** What takes a tenant its writes and gives them back. */
export interface BucketFence {
  up(): Promise<void>;
  down(): Promise<void>;
}

/**
 * The fence of a tenant with an account: the account's permissions, which servers apply to connections that are open before
 * they answer. Its kine serves reads on, also one that starts now.
 */
export function accountFence(system: NatsSystem, schema: string): BucketFence {
  const stand =
    (standing: Standing) =>
    (current: KnownAccount | undefined): AccountClaims => {
      if (current === undefined)
        throw new StoreError('Failed', `there is no account ${schema} in NATS: it must be made first`);
      const { subject, nats } = current;
      return { subject, name: schema, nats: { ...nats, default_permissions: tenantPermissions(schema, standing) } };
    };
  return {
    up: () => system.keepAccount(tenantAccount(schema), stand('fenced')),
    down: () => system.keepAccount(tenantAccount(schema), stand('open')),
  };
}

/**
 * The fence of a store with one login, which the operator has, too: the bucket listens no more. Its kine serves reads on, but
 * one that starts while the fence is up does not find its bucket as it wants it, and ends until the fence is down.
 */
export function streamFence(client: NatsClient, bucket: string, replicas: number): BucketFence {
  const update = async (stream: object): Promise<void> => {
    await client.api(`fence bucket ${bucket}`, `STREAM.UPDATE.${bucketStreamName(bucket)}`, stream);
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
 * Waits until nothing is on its way to the bucket any more: what a server let pass just before the fence takes another moment,
 * between servers a longer one.
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
    `bucket ${bucket} is written to although its tenant is fenced: somebody else has its login`,
  );
}
