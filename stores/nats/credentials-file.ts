import { readClaims } from './claims.ts';
import { nkeyOfSeed } from './nkey.ts';

/**
 * The issue time in JWTs that depend only on their keys, so that they are the same whenever they are generated. Such a user ends when its
 * signer is removed from the account, not by age.
 */
export const userIssuedAt = 1_577_836_800;

/** A user's JWT and seed as NATS clients read them from a `.creds` file. */
export function credentialsFile(jwt: string, seed: string): string {
  const block = (name: string, text: string): string => `-----BEGIN ${name}-----\n${text}\n------END ${name}------\n`;
  return `${block('NATS USER JWT', jwt)}\n${block('USER NKEY SEED', seed)}`;
}

/** The JWT and the seed in a `.creds` file; empty when there are none. */
export function credentialsParts(text: string): { readonly jwt: string; readonly seed: string } {
  const [jwt = '', seed = ''] = [...text.matchAll(/-{3,}BEGIN [^\n]*-{3,}\s*(\S+)\s*-{3,}END/g)].map(
    (match) => match[1] ?? '',
  );
  return { jwt, seed };
}

/** Says what is wrong with a `.creds` file, or undefined: the JWT of a user and the seed that belongs to it. */
export function credentialsProblem(text: string): string | undefined {
  const { jwt, seed } = credentialsParts(text);
  if (jwt === '' || seed === '') return 'is not a NATS credentials file with a user JWT and its seed';
  const claims = readClaims(jwt);
  if (claims === undefined || (claims.nats as { type?: unknown } | null)?.type !== 'user') {
    return 'contains a JWT that is not that of a NATS user';
  }
  const key = nkeyOfSeed('user', seed);
  if (key === undefined) return 'contains no user seed (SU…)';
  return key.publicKey === claims.subject ? undefined : 'contains a seed that does not belong to its JWT';
}
