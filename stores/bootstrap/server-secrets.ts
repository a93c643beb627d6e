import type { KeyPair, Profile } from '../../kubeadm/pki/key-pair.ts';
import { caValidityMs } from '../../kubeadm/pki/lifetime.ts';
import { StoreError } from '../store-error.ts';
import { keptAuthority, ensureKeyPair, pairTexts } from './kept-pairs.ts';
import { serverSecretNames } from './server-plan.ts';
import type { ServerPlan } from './server-plan.ts';
import type { SecretTexts, Secrets } from './write-secrets.ts';

/** Returns at least 24 random bytes. */
export type RandomBytes = () => Uint8Array;

/** The administrator in the Secret, or a new one when there is no Secret: a running server knows only the first password. */
function administrator(plan: ServerPlan, texts: SecretTexts | undefined, random: RandomBytes): SecretTexts {
  if (texts === undefined) {
    // It begins with a letter, so no shell or configuration language takes it for a flag or a number.
    return { username: plan.administrator, password: `p${Buffer.from(random()).toString('hex')}` };
  }
  const { username = '', password = '' } = texts;
  if (username !== '' && password !== '') return { username, password };
  throw new StoreError(
    'CredentialsInvalid',
    `Secret ${serverSecretNames(plan).credentials} has no ${username === '' ? 'username' : 'password'}. ` +
      'A server that was started with it accepts no other, so none is generated: restore it, or delete the Secret and the data',
  );
}

function serverProfile({ name, namespace, clusterDomain }: ServerPlan): Profile {
  const service = [name, `${name}.${namespace}`, `${name}.${namespace}.svc`];
  const dnsNames = ['localhost', ...service, `${name}.${namespace}.svc.${clusterDomain}`];
  return { commonName: name, usages: ['serverAuth'], dnsNames, ipAddresses: ['127.0.0.1', '::1'] };
}

/**
 * The wanted CA and certificate of a quick-start server; valid ones stay as they are. Throws `StoreError` (CredentialsInvalid) for an
 * existing CA that is broken: it is never replaced.
 */
export async function serverCertificates(plan: ServerPlan, current: Secrets, now: Date): Promise<Secrets> {
  const names = serverSecretNames(plan);
  const profile: Profile = { commonName: `${plan.name}-ca`, usages: [] };
  const ca: KeyPair = await keptAuthority(names.authority, current.get(names.authority), profile, now);
  // These servers read their certificate when they start, and they need not start for years.
  const issuing = { ca, now, validityMs: caValidityMs };
  const server = await ensureKeyPair(current.get(names.server), serverProfile(plan), issuing);
  return new Map([
    [names.authority, { 'ca.crt': ca.certificate, 'ca.key': ca.key }],
    [names.server, pairTexts(ca, server)],
  ]);
}

/**
 * The wanted content of the Secrets of a quick-start server with a password, see `serverCertificates`. An existing password is never
 * replaced either.
 */
export async function serverSecrets(
  plan: ServerPlan,
  current: Secrets,
  now: Date,
  random: RandomBytes,
): Promise<Secrets> {
  const { credentials } = serverSecretNames(plan);
  const login = administrator(plan, current.get(credentials), random);
  return new Map([[credentials, login], ...(await serverCertificates(plan, current, now))]);
}
