import type { Tenancy } from '../driver.ts';
import { foreignError } from '../ownership-error.ts';
import { isOf } from './records.ts';
import type { Records } from './records.ts';

/** What is recorded about the names of a tenancy; `own` also when a crash left out one of the two records. */
export type Ownership =
  | { readonly is: 'own'; readonly whole: boolean }
  | { readonly is: 'unrecorded' }
  | { readonly is: 'foreign'; readonly owner: string };

const keysOf = ({ schema, user }: Tenancy): readonly [schema: string, user: string] => [
  `schemas.${schema}`,
  `users.${user}`,
];

/** Who owns the names. A name that is recorded in another combination is foreign, even for the same owner. */
export async function readOwnership(records: Records, tenancy: Tenancy): Promise<Ownership> {
  const found = await Promise.all(keysOf(tenancy).map((key) => records.read(key)));
  const known = found.filter((record) => record !== undefined);
  if (known.length === 0) return { is: 'unrecorded' };
  const other = known.find((record) => !isOf(record, tenancy));
  if (other !== undefined) return { is: 'foreign', owner: other.owner };
  return { is: 'own', whole: known.length === found.length };
}

/**
 * Records both names for this owner. The schema comes first and is released when the user belongs to another owner, so that one of two
 * concurrent owners gets both names. Throws `StoreError` OwnedByAnother.
 */
export async function recordOwnership(records: Records, tenancy: Tenancy): Promise<void> {
  const { owner, schema, user } = tenancy;
  const record = { owner, schema, user };
  const [schemaKey, userKey] = keysOf(tenancy);
  const madeSchema = await records.create(schemaKey, record);
  if (!madeSchema) await refuseForeign(records, schemaKey, tenancy);
  if (await records.create(userKey, record)) return;
  try {
    await refuseForeign(records, userKey, tenancy);
  } catch (error) {
    if (madeSchema) await records.forget(schemaKey);
    throw error;
  }
}

async function refuseForeign(records: Records, key: string, tenancy: Tenancy): Promise<void> {
  const record = await records.read(key);
  if (record === undefined || !isOf(record, tenancy))
    throw foreignError(tenancy, { is: 'foreign', owner: record?.owner });
}

/** Deletes the records of both names, the schema last: while it exists, an interrupted removal can be continued. */
export async function releaseOwnership(records: Records, tenancy: Tenancy): Promise<void> {
  const [schemaKey, userKey] = keysOf(tenancy);
  await records.forget(userKey);
  await records.forget(schemaKey);
}
