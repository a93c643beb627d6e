import type { Tenancy } from '../driver.ts';
import { foreignError } from '../owned-by-another.ts';
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

/** Whose the names are. Names that are recorded together with other ones are foreign, also to the same owner. */
export async function readOwnership(records: Records, tenancy: Tenancy): Promise<Ownership> {
  const found = await Promise.all(keysOf(tenancy).map((key) => records.read(key)));
  const known = found.filter((record) => record !== undefined);
  if (known.length === 0) return { is: 'unrecorded' };
  const other = known.find((record) => !isOf(record, tenancy));
  if (other !== undefined) return { is: 'foreign', owner: other.owner };
  return { is: 'own', whole: known.length === found.length };
}

/**
 * Records both names as this owner's. The schema comes first and is given back when the user turns out to be another's, so
 * that of two who race for the same names one has both. Throws `StoreError` OwnedByAnother.
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

/** Forgets the owner of both names, of the schema last: while that is there, a removal that was cut short goes on. */
export async function releaseOwnership(records: Records, tenancy: Tenancy): Promise<void> {
  const [schemaKey, userKey] = keysOf(tenancy);
  await records.forget(userKey);
  await records.forget(schemaKey);
}
