import { createHash } from 'node:crypto';

/** A tenant's identifiers in its store. */
export interface TenancyNames {
  /** Key prefix, database or bucket name. */
  readonly schema: string;
  readonly user: string;
}

/** What determines the names, in order of precedence: the recorded names, those in the spec, the owner's UID. */
export interface NamingFacts {
  /** UID of the object that owns the tenancy. */
  readonly uid: string;
  /** `status.storage.setup`: once recorded, names never change. */
  readonly recorded?: { readonly schema?: string | undefined; readonly user?: string | undefined } | undefined;
  /** `spec.dataStoreSchema` and `spec.dataStoreUsername`. */
  readonly requested?: { readonly schema?: string | undefined; readonly user?: string | undefined } | undefined;
}

/** Names that begin like this are those of the tenancies with which the isolation of a datastore is verified. */
export const canaryPrefix = 'steward_canary_';

/** Longest name every store takes: a MySQL user has at most 32 characters. */
export const longestTenancyName = 32;

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** RFC 4648 base32 without padding, in lower case: 26 characters for 128 bits. */
function base32(bytes: Uint8Array): string {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  let text = '';
  for (let at = 0; at < bits.length; at += 5) {
    text += alphabet.charAt(Number.parseInt(bits.slice(at, at + 5).padEnd(5, '0'), 2));
  }
  return text;
}

/**
 * The identifier of a tenancy, made from its owner's UID alone: a letter and 26 characters of `a-z2-7`, which etcd, SQL and
 * NATS take without quoting. Different UUIDs give different identifiers, and since all have one length none is a prefix of
 * another. Any other UID is hashed to 128 bits and begins with another letter.
 */
export function tenancyIdentifier(uid: string): string {
  if (uuid.test(uid)) return `t${base32(Buffer.from(uid.replaceAll('-', ''), 'hex'))}`;
  return `u${base32(createHash('sha256').update(uid).digest().subarray(0, 16))}`;
}

/** The names of a tenancy. Recorded ones always win, so that a running tenant keeps its data. */
export function tenancyNames(facts: NamingFacts): TenancyNames {
  const own = tenancyIdentifier(facts.uid);
  return {
    schema: firstOf(facts.recorded?.schema, facts.requested?.schema, own),
    user: firstOf(facts.recorded?.user, facts.requested?.user, own),
  };
}

function firstOf(recorded: string | undefined, requested: string | undefined, own: string): string {
  if (recorded !== undefined && recorded !== '') return recorded;
  return requested !== undefined && requested !== '' ? requested : own;
}

/**
 * Says what is wrong with a schema or user that a person chose, or undefined. An accepted name is safe in every datastore: it needs no
 * quoting and contains no wildcard of SQL's LIKE but `_`, and no separator of etcd or NATS.
 */
export function tenancyNameProblem(name: string): string | undefined {
  if (name === '') return 'is empty';
  if (name.length > longestTenancyName)
    return `has ${name.length} characters; at most ${longestTenancyName} are allowed`;
  if (!/^[A-Za-z][A-Za-z0-9_-]*$/.test(name))
    return 'may contain only letters, digits, "_" and "-", and must begin with a letter';
  if (name.toLowerCase().startsWith(canaryPrefix))
    return `begins with ${canaryPrefix}, which is reserved for verifying the isolation of tenants`;
  if (name === 'root') return 'is the administrator of the datastore';
  return undefined;
}
