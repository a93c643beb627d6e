import { credentialsFile, userIssuedAt } from './credentials-file.ts';
import { signClaims } from './claims.ts';
import { derivedNkey, nkeyOfBytes } from './nkey.ts';
import type { Nkey } from './nkey.ts';

/** The keys of a NATS system whose accounts are JWTs. */
export interface OperatorKeys {
  /** The identity that servers trust: names its signing keys, and is needed for nothing else. */
  readonly operator: Nkey;
  /** Signs accounts. */
  readonly signing: Nkey;
  /** The system account: it can monitor and administer the servers. */
  readonly system: Nkey;
}

/** Keys that are derived from 32 secret bytes. */
export function operatorKeys(secret: Uint8Array): OperatorKeys {
  const operator = nkeyOfBytes('operator', secret);
  return {
    operator,
    signing: derivedNkey('operator', operator, ['signing']),
    system: derivedNkey('account', operator, ['system']),
  };
}

const unlimited = { subs: -1, data: -1, payload: -1 } as const;

/** The operator in the form for the servers' configuration (`operator:`). */
export function operatorJwt({ operator, signing, system }: OperatorKeys): string {
  const nats = {
    signing_keys: [signing.publicKey],
    system_account: system.publicKey,
    // The identity itself need not be where accounts are made.
    strict_signing_key_usage: true,
    type: 'operator',
    version: 2,
  };
  return signClaims(operator, { subject: operator.publicKey, name: 'steward', issuedAt: userIssuedAt, nats });
}

/** The system account, for `resolver_preload`. */
export function systemAccountJwt(
  { signing, system }: OperatorKeys,
  revoked: Readonly<Record<string, number>> = {},
): string {
  const nats = {
    limits: { ...unlimited, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 },
    signing_keys: [systemSigner(system).publicKey],
    revocations: revoked,
    default_permissions: { pub: {}, sub: {} },
    type: 'account',
    version: 2,
  };
  const issuedAt = userIssuedAt + Object.keys(revoked).length;
  return signClaims(signing, { subject: system.publicKey, name: 'SYS', issuedAt, nats });
}

/** With strict_signing_key_usage an account's own key signs no users. */
function systemSigner(system: Nkey): Nkey {
  return derivedNkey('account', system, ['signing']);
}

/** A user of the system account; another name is another user. */
export function systemUser({ system }: OperatorKeys, name = 'steward'): Nkey {
  return derivedNkey('user', system, [name]);
}

/** The credentials file of a user of the system account. */
export function systemCredentials(keys: OperatorKeys, name = 'steward'): string {
  const user = systemUser(keys, name);
  const nats = { issuer_account: keys.system.publicKey, ...unlimited, type: 'user', version: 2 };
  const signer = systemSigner(keys.system);
  return credentialsFile(
    signClaims(signer, { subject: user.publicKey, name, issuedAt: userIssuedAt, nats }),
    user.seed,
  );
}
