import { createHash } from 'node:crypto';
import type { Tenancy } from '../driver.ts';
import { bucketStreamName, bucketSubject } from './data/bucket.ts';
import { credentialsFile, userIssuedAt } from './credentials-file.ts';
import { kineSubjects } from './data/kine-keys.ts';
import { signClaims } from './claims.ts';
import type { Claims } from './claims.ts';
import type { AccountAccess } from './config.ts';
import { derivedNkey, nkeyOfSeed, publicNkey } from './nkey.ts';
import type { Nkey } from './nkey.ts';

/** The part of an account's JWT that NATS reads. */
export interface AccountBody {
  /** The tenancy's user. */
  readonly description: string;
  readonly limits: Readonly<Record<string, number | boolean>>;
  readonly signing_keys: readonly string[];
  /** Of users whose own JWT says nothing of permissions. A change reaches connections that are open. */
  readonly default_permissions: Permissions;
  readonly type: 'account';
  readonly version: 2;
}

interface Permissions {
  readonly pub: Subjects;
  readonly sub: Subjects;
}

interface Subjects {
  /** NATS takes an empty list as no limit. */
  readonly allow: readonly string[];
  readonly deny?: readonly string[];
}

/** Claims without the time of their signing. */
export type AccountClaims = Omit<Claims<AccountBody>, 'issuedAt'>;

/** What a tenant may do: all of its bucket, all but writing, or not even log in. */
export type Standing = 'open' | 'fenced' | 'closed';

const unlimited = { subs: -1, data: -1, payload: -1 } as const;
const everything: Permissions = { pub: { allow: ['>'] }, sub: { allow: ['>'] } };
const nothing: Permissions = { pub: { allow: [], deny: ['>'] }, sub: { allow: [], deny: ['>'] } };
const connectionsPerTenant = 64;
/** kine has one for each watch of an API server; without a number a server allows 1000. */
const consumersPerTenant = 8192;
const registryBytes = 64 * 1024 * 1024;

/**
 * An account without a private key: its public key is a hash of its name. Its users are signed with its signing keys, which
 * are in the JWT that the operator's key signs. So an account stays the same when these keys change, and none of its
 * secrets are stored.
 */
function accountNamed(name: string): string {
  return publicNkey('account', createHash('sha256').update(`steward.butlerlabs.dev/nats/${name}`).digest());
}

/** The account in which owners are recorded. */
export const registryAccount = accountNamed('registry');

/** The account of the tenancy with this schema. */
export function tenantAccount(schema: string): string {
  return accountNamed(`tenancy/${schema}`);
}

/** The operator's key of the config. Throws `RangeError` for a seed that is none: configs are checked when they are read. */
export function operatorKey({ operatorSeed }: AccountAccess): Nkey {
  const key = nkeyOfSeed('operator', operatorSeed);
  if (key === undefined) throw new RangeError('the config contains no operator seed');
  return key;
}

/**
 * Exactly what kine's client needs of its own bucket: keys, reads, and consumers for its watches. It may create the bucket,
 * which exists already, and change nothing about it. A fenced tenant can write only what its kine needs to start. Names are
 * of letters, digits, "_" and "-": none reaches beyond its token.
 */
export function tenantPermissions(bucket: string, standing: Standing): Permissions {
  const stream = bucketStreamName(bucket);
  const api = (...calls: readonly string[]): readonly string[] => calls.map((call) => `$JS.API.${call}`);
  const publish = [
    ...(standing === 'open' ? [bucketSubject(bucket, '>')] : kineSubjects(bucket)),
    ...api('INFO', `STREAM.CREATE.${stream}`, `STREAM.INFO.${stream}`, `STREAM.MSG.GET.${stream}`),
    ...api(
      `DIRECT.GET.${stream}`,
      `DIRECT.GET.${stream}.>`,
      `CONSUMER.CREATE.${stream}`,
      `CONSUMER.CREATE.${stream}.>`,
    ),
    ...api(`CONSUMER.INFO.${stream}.*`, `CONSUMER.DELETE.${stream}.*`, `CONSUMER.MSG.NEXT.${stream}.*`),
    `$JS.ACK.${stream}.>`,
    `$JS.FC.${stream}.>`,
  ];
  return { pub: { allow: publish }, sub: { allow: ['_INBOX.>'] } };
}

function account(
  parts: Pick<AccountBody, 'description' | 'signing_keys' | 'default_permissions' | 'limits'>,
): AccountBody {
  const { description, limits, signing_keys, default_permissions } = parts;
  return {
    description,
    limits: { ...unlimited, disallow_bearer: true, ...limits },
    signing_keys,
    default_permissions,
    type: 'account',
    version: 2,
  };
}

/** The account of the registry: only this operator's users, little space. */
export function registryClaims(access: AccountAccess): AccountClaims {
  const body = account({
    description: 'Owners of tenancies, kept by Steward',
    limits: { conn: -1, disk_storage: registryBytes, streams: 1, consumer: -1 },
    signing_keys: [signerOf(access, ['registry']).publicKey],
    default_permissions: nothing,
  });
  return { subject: registryAccount, name: 'steward-registry', nats: body };
}

/**
 * The account of a tenancy: one bucket of bounded size, no imports or exports, and besides this operator's own users those
 * whom the tenancy's signing key made.
 */
export function tenantClaims(access: AccountAccess, tenancy: Tenancy, standing: Standing): AccountClaims {
  const { schema, user } = tenancy;
  const administrator = signerOf(access, ['administrator', schema]).publicKey;
  const closed = standing === 'closed';
  const body = account({
    description: user,
    limits: {
      conn: connectionsPerTenant,
      // Closed, it takes nothing from the others: an account for which there was no room is removed, too.
      disk_storage: closed ? 1 : access.bytesPerTenant * access.replicas,
      streams: 1,
      consumer: consumersPerTenant,
    },
    signing_keys: closed ? [administrator] : [administrator, signerOf(access, tenantPurpose(tenancy)).publicKey],
    default_permissions: tenantPermissions(schema, standing),
  });
  return { subject: tenantAccount(schema), name: schema, nats: body };
}

/** The account as it is, but that no credentials of its tenant open it: those are signed with a key that it does not name anymore. */
export function revokedClaims(
  access: AccountAccess,
  tenancy: Tenancy,
  current: { readonly nats: AccountBody } | undefined,
): AccountClaims {
  const claims = tenantClaims(access, tenancy, 'open');
  const body = current?.nats ?? claims.nats;
  return {
    ...claims,
    nats: { ...body, signing_keys: [signerOf(access, ['administrator', tenancy.schema]).publicKey] },
  };
}

/** True if the account's tenant is fenced. */
export function isFenced(schema: string, body: AccountBody): boolean {
  const { pub } = tenantPermissions(schema, 'fenced');
  return JSON.stringify(body.default_permissions.pub) === JSON.stringify(pub);
}

function signerOf(access: AccountAccess, purpose: readonly string[]): Nkey {
  return derivedNkey('account', operatorKey(access), purpose);
}

/** What makes a tenancy's credentials its own: all of it, so that each of these changed gives others. */
function tenantPurpose({ schema, user, owner, password = '' }: Tenancy): readonly string[] {
  return ['tenant', schema, user, owner, password];
}

/** Credentials, as a `.creds` file, of this operator's user in the registry. */
export function registryCredentials(access: AccountAccess): string {
  return credentials(access, ['registry'], registryAccount, everything);
}

/** Credentials of this operator's user in the account of a tenancy. */
export function administratorCredentials(access: AccountAccess, schema: string): string {
  return credentials(access, ['administrator', schema], tenantAccount(schema), everything);
}

/** Credentials of the tenant. They say nothing of permissions: its account does. */
export function tenantCredentials(access: AccountAccess, tenancy: Tenancy): string {
  return credentials(access, tenantPurpose(tenancy), tenantAccount(tenancy.schema), {});
}

function credentials(
  access: AccountAccess,
  purpose: readonly string[],
  account: string,
  permissions: Partial<Permissions>,
): string {
  const user = derivedNkey('user', operatorKey(access), purpose);
  const nats = {
    issuer_account: account,
    ...permissions,
    ...unlimited,
    allowed_connection_types: ['STANDARD'],
    type: 'user',
    version: 2,
  };
  const jwt = signClaims(signerOf(access, purpose), { subject: user.publicKey, issuedAt: userIssuedAt, nats });
  return credentialsFile(jwt, user.seed);
}
