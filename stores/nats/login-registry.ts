import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { StoreError } from '../store-error.ts';
import { bucketSubject } from './data/bucket.ts';
import type { NatsClient } from './client.ts';
import { recordsBucket } from './names.ts';
import { recordText } from './records.ts';

/** Whose tenant has had a login. */
interface KnownLogin {
  readonly owner: string;
  /** Hexadecimal, as is the hash. */
  readonly salt: string;
  readonly hash: string;
}

const loginsKey = 'logins';
const derive = promisify<string, Buffer, number, Buffer>(scrypt);
const hashOf = (login: string, salt: string): Promise<Buffer> => derive(login, Buffer.from(salt, 'hex'), 32);

/** The owner, other than this one, of a removed tenant that has had a login; undefined when there is none. Throws `StoreError`. */
export async function otherWhoKnows(client: NatsClient, login: string, owner: string): Promise<string | undefined> {
  for (const known of await knownLogins(client)) {
    if (known.owner !== owner && (await isLogin(login, known))) return known.owner;
  }
  return undefined;
}

/**
 * Records, beyond the removal of its tenant, that an owner has had the credentials. Only a salted hash is stored, next to
 * the ownership records: anyone with the credentials could delete it like everything else, but cannot learn earlier
 * credentials.
 */
export async function rememberLogin(client: NatsClient, login: string, owner: string): Promise<void> {
  const logins = await knownLogins(client);
  for (const known of logins) if (known.owner === owner && (await isLogin(login, known))) return;
  const salt = randomBytes(16).toString('hex');
  const added = { owner, salt, hash: (await hashOf(login, salt)).toString('hex') };
  await client.store(
    'record who has had the credentials',
    bucketSubject(recordsBucket, loginsKey),
    JSON.stringify([...logins, added]),
  );
}

async function isLogin(login: string, { salt, hash }: KnownLogin): Promise<boolean> {
  const [made, kept] = [await hashOf(login, salt), Buffer.from(hash, 'hex')];
  return made.length === kept.length && timingSafeEqual(made, kept);
}

async function knownLogins(client: NatsClient): Promise<readonly KnownLogin[]> {
  const text = await recordText(client, loginsKey);
  return text === undefined ? [] : parseLogins(text);
}

/** Reads the record of credentials. Throws `StoreError`. */
export function parseLogins(text: string): readonly KnownLogin[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Reported below, like other unreadable records.
    value = undefined;
  }
  if (Array.isArray(value) && value.every(isKnownLogin)) return value;
  throw new StoreError(
    'Failed',
    `the record of credentials at key ${loginsKey} of the NATS bucket ${recordsBucket} cannot be read: change the credentials in the server and in the DataStore, then delete the record`,
  );
}

function isKnownLogin(value: unknown): value is KnownLogin {
  if (typeof value !== 'object' || value === null) return false;
  return ['owner', 'salt', 'hash'].every((field) => typeof (value as Record<string, unknown>)[field] === 'string');
}
