import type { Tenancy } from '../driver.ts';
import { StoreError } from '../store-error.ts';
import type { EtcdClient } from './client.ts';

type Records = Pick<EtcdClient, 'get' | 'createAll' | 'deleteKeys'>;

/** What the store has recorded about the names of a tenancy. */
export type Ownership =
  { readonly is: 'own' } | { readonly is: 'unrecorded' } | { readonly is: 'foreign'; readonly owner: string };

interface OwnershipRecord {
  readonly owner: string;
  readonly schema: string;
  readonly user: string;
}

/** The prefix of the ownership records. It does not begin with `/`, unlike all keys of tenants, so no schema can contain it. */
export const ownershipPrefix = 'steward.butlerlabs.dev/tenancies/';

function keysOf({ schema, user }: Tenancy): readonly [schema: string, user: string] {
  return [`${ownershipPrefix}schemas/${schema}`, `${ownershipPrefix}users/${user}`];
}

function parse(key: string, text: string): OwnershipRecord {
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
    `the ownership record at etcd key ${key} cannot be read: restore it or, if its tenant no longer exists, delete it`,
  );
}

/** Who owns the names. A name that is recorded in another combination is foreign, even for the same owner. */
export async function readOwnership(client: Records, tenancy: Tenancy): Promise<Ownership> {
  const records = await Promise.all(
    keysOf(tenancy).map(async (key) => {
      const text = await client.get(key);
      return text === undefined ? undefined : parse(key, text);
    }),
  );
  const known = records.filter((record) => record !== undefined);
  if (known.length === 0) return { is: 'unrecorded' };
  const other = known.find(
    ({ owner, schema, user }) => owner !== tenancy.owner || schema !== tenancy.schema || user !== tenancy.user,
  );
  if (other !== undefined) return { is: 'foreign', owner: other.owner };
  return { is: 'own' };
}

/** Records both names as this owner's in one transaction; false when one of them is recorded already. */
export async function recordOwnership(client: Records, tenancy: Tenancy): Promise<boolean> {
  const { owner, schema, user } = tenancy;
  const value = JSON.stringify({ owner, schema, user } satisfies OwnershipRecord);
  return client.createAll(keysOf(tenancy).map((key) => [key, value]));
}

/** Forgets the owner of both names. */
export async function releaseOwnership(client: Records, tenancy: Tenancy): Promise<void> {
  await client.deleteKeys(keysOf(tenancy));
}
