import type { Tenancy } from '../driver.ts';
import { StoreError } from '../store-error.ts';

/** The bucket in which owners are recorded. */
export const recordsBucket = 'steward-tenancies';

/** A stream's name has at most 255 characters, three of which are KV_. */
const longest = 252;

/**
 * Says what is wrong with a name, or undefined: it is one token of a subject and the name of a bucket
 * (https://docs.nats.io, ADR-8: letters, digits, "_" and "-").
 */
function problem(name: string): string | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(name)) return 'use letters, digits, "_" and "-"';
  if (name.length > longest) return `use at most ${longest} characters`;
  return name === 'root' || name === recordsBucket ? 'it is reserved' : undefined;
}

function unsafe({ schema, user }: Tenancy): string | undefined {
  const [ofSchema, ofUser] = [problem(schema), problem(user)];
  const cannot = 'cannot be used for a tenancy in NATS';
  if (ofSchema !== undefined) return `the schema ${JSON.stringify(schema)} ${cannot}: ${ofSchema}`;
  return ofUser === undefined ? undefined : `the user ${JSON.stringify(user)} ${cannot}: ${ofUser}`;
}

/** True for names that are never given a tenancy. */
export function isUnsafe(tenancy: Tenancy): boolean {
  return unsafe(tenancy) !== undefined;
}

/** Throws `StoreError` InvalidName for names that reach beyond a tenancy of their own. */
export function refuseUnsafe(tenancy: Tenancy): void {
  const message = unsafe(tenancy);
  if (message !== undefined) throw new StoreError('InvalidName', message);
}
