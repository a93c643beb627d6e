import type { Secret } from '../api/core/kinds.ts';
import { KubeconfigError } from '../api/kubeconfig.ts';
import { dataKeys } from '../api/names.ts';
import { evaluateKubeconfig, kubeconfig, parseKubeconfig } from './kubeconfig.ts';
import type { Kubeconfig } from './kubeconfig.ts';
import { parseCertificates } from './pki/certificate-chain.ts';
import { issue } from './pki/issue.ts';
import type { IssuerPool } from './pki/issuer-pool.ts';
import type { KeyAlgorithm, KeyPair, Profile } from './pki/key-pair.ts';
import { certificateValidityMs, lifetimeFrom } from './pki/lifetime.ts';

/** What a kubeconfig for a client of a tenant is made of. */
export interface ClientKubeconfig {
  /** The tenant's Secrets; undefined while there is none. */
  readonly admin: Secret | undefined;
  readonly authority: Secret | undefined;
  /** Key in the Secret of the administrator from which server and CA are taken. */
  readonly adminKey: string;
  /** What to do if the Secret has no such key. */
  readonly absentKey: (keys: string) => string;
  /** The subject of the client's certificate. */
  readonly profile: Profile;
  /** Names of user and context. */
  readonly name: string;
  /** Name of the cluster; by default that in the kubeconfig of the administrator. */
  readonly clusterName?: string;
  readonly algorithm: KeyAlgorithm;
  /** The kubeconfig in place. */
  readonly present: string | undefined;
  /** True when a new one was requested. */
  readonly rotate: boolean;
  readonly now: Date;
  readonly renewBeforeMs: number;
}

/** A kubeconfig, and when it must be renewed, in milliseconds since the epoch. */
export interface Generated {
  readonly kubeconfig: string;
  readonly renewal: number;
}

/** Why a client has no kubeconfig yet, as text for people. */
export class NotGeneratedError extends Error {
  override readonly name = 'NotGeneratedError';
}

function text(secret: Secret | undefined, key: string): string {
  return Buffer.from(secret?.data?.[key] ?? '', 'base64').toString('utf8');
}

/** Server and CA in the kubeconfig of the administrator. */
function templateOf({ admin, adminKey: key, absentKey }: ClientKubeconfig): Kubeconfig {
  if (admin === undefined) throw new NotGeneratedError('the admin kubeconfig is not yet generated');
  const content = text(admin, key);
  if (content === '') {
    const known = Object.keys(admin.data ?? {})
      .sort()
      .join(', ');
    throw new NotGeneratedError(`the admin kubeconfig has no key ${JSON.stringify(key)}: ${absentKey(known)}`);
  }
  try {
    return parseKubeconfig(content);
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    const text = `unable to decode Kubeconfig template: key ${key} of Secret ${admin.metadata.name}: ${error.message}; delete the Secret to have it generated again`;
    throw new NotGeneratedError(text, { cause: error });
  }
}

interface Authority {
  readonly signer: KeyPair;
  /** PEM of all that clients must trust, that of the signer first. */
  readonly trusted: string;
}

/**
 * The CA that signs; while it is being replaced, the template still contains the old one, and the kubeconfig waits until
 * both are the same.
 */
function authorityOf({ authority }: ClientKubeconfig, template: Kubeconfig): Authority {
  const keys = dataKeys.ca;
  const [certificate, key] = [text(authority, keys.certificate), text(authority, keys.key)];
  if (certificate === '' || key === '') throw new NotGeneratedError('the CA is not yet generated');
  const bundle = text(authority, keys.bundle);
  const trusted = bundle === '' ? certificate : bundle;
  if (trusted.trim() !== template.ca.trim()) {
    throw new NotGeneratedError('the admin kubeconfig does not contain the current CA yet');
  }
  return { signer: { certificate, key }, trusted };
}

/**
 * The kubeconfig in place while it is right, otherwise a new one. Throws `NotGeneratedError` when something is missing that
 * it is made of.
 */
export async function clientKubeconfig(from: ClientKubeconfig, issuers: IssuerPool): Promise<Generated> {
  const { present, now, profile, name, algorithm } = from;
  const template = templateOf(from);
  const { signer: ca, trusted } = authorityOf(from, template);
  const [signer] = parseCertificates(ca.certificate, dataKeys.ca.certificate);
  // A certificate cannot outlive its CA, so one that expires with its CA is not renewed needlessly.
  const left = signer.validToDate.getTime() - now.getTime();
  const thresholdMs = left > 2 * from.renewBeforeMs ? from.renewBeforeMs : 0;
  const { server } = template;
  const { clusterName = template.clusterName } = from;
  const verdict = evaluateKubeconfig(present, { clusterName, server, ca: trusted, profile, now, thresholdMs });
  const renewalOf = (certificate: string): number =>
    parseCertificates(certificate, 'certificate')[0].validToDate.getTime() - thresholdMs;
  if (verdict.keep && !from.rotate && present !== undefined) {
    return { kubeconfig: present, renewal: renewalOf(parseKubeconfig(present).client.certificate) };
  }
  const year = lifetimeFrom(now, certificateValidityMs);
  const lifetime = { ...year, notAfter: new Date(Math.min(year.notAfter.getTime(), signer.validToDate.getTime())) };
  const client = await issuers.run(() => issue(profile, ca, { algorithm, lifetime }));
  const content = kubeconfig({ clusterName, server, ca: trusted, user: name, context: name, client });
  return { kubeconfig: content, renewal: renewalOf(client.certificate) };
}
