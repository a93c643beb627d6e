import type { KeyPair, Profile } from '../../kubeadm/pki/key-pair.ts';
import { caValidityMs } from '../../kubeadm/pki/lifetime.ts';
import { StoreError } from '../store-error.ts';
import { keptAuthority, keptPair, pairTexts } from './kept-pairs.ts';
import { serverSecretNames } from './server-plan.ts';
import type { ServerPlan } from './server-plan.ts';
import type { SecretTexts, Secrets } from './write-secrets.ts';

/** 24 bytes or more of which nobody knows anything. */
export type RandomBytes = () => Uint8Array;

/** The administrator in the Secret, or a new one when there is no Secret. A server that runs knows only the old password. */
function administrator(plan: ServerPlan, texts: SecretTexts | undefined, random: RandomBytes): SecretTexts {
  if (texts === undefined) {
    // A letter first: no shell or configuration language takes it for a flag or a number.
    return { username: plan.administrator, password: `p${Buffer.from(random()).toString('hex')}` };
  }
  const { username = '', password = '' } = texts;
  if (username !== '' && password !== '') return { username, password };
  throw new StoreError(
    'CredentialsInvalid',
    `Secret ${serverSecretNames(plan).credentials} lacks ${username === '' ? 'username' : 'password'}. ` +
      'A server that was started with it knows no other, so none is made up: restore it, or delete the Secret and the data',
  );
}

function serverProfile({ name, namespace, clusterDomain }: ServerPlan): Profile {
  const service = [name, `${name}.${namespace}`, `${name}.${namespace}.svc`];
  const dnsNames = ['localhost', ...service, `${name}.${namespace}.svc.${clusterDomain}`];
  return { commonName: name, usages: ['serverAuth'], dnsNames, ipAddresses: ['127.0.0.1', '::1'] };
}

/**
 * The authority and the certificate of a quick-start server, as they should be: what is good stays as it is. Throws `StoreError`
 * (CredentialsInvalid) for an authority that is there and broken: it is never replaced.
 */
export async function serverCertificates(plan: ServerPlan, current: Secrets, now: Date): Promise<Secrets> {
  const names = serverSecretNames(plan);
  const profile: Profile = { commonName: `${plan.name}-ca`, ca: true, usages: [] };
  const ca: KeyPair = await keptAuthority(names.authority, current.get(names.authority), profile, now);
  // These servers read their certificate when they start, and they need not start for years.
  const issuing = { ca, now, validityMs: caValidityMs };
  const server = await keptPair(current.get(names.server), serverProfile(plan), issuing);
  return new Map([
    [names.authority, { 'ca.crt': ca.certificate, 'ca.key': ca.key }],
    [names.server, pairTexts(ca, server)],
  ]);
}

/**
 * What the Secrets of a quick-start server with a password should hold, see `serverCertificates`. A password that is there is never
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
