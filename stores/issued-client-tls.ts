import { X509Certificate } from 'node:crypto';
import { issue } from '../kubeadm/pki/issue.ts';
import { evaluate } from '../kubeadm/pki/evaluate.ts';
import type { Lifetime, Profile } from '../kubeadm/pki/key-pair.ts';
import { certificateValidityMs, lifetimeFrom } from '../kubeadm/pki/lifetime.ts';
import type { Credential } from './credentials.ts';
import type { ClientTls, Tenancy } from './driver.ts';
import { StoreError } from './store-error.ts';

const day = 24 * 60 * 60 * 1000;

/** A certificate with less time left is renewed. A month is enough to notice a stopped manager before a tenant stops. */
const renewBeforeMs = 30 * day;

/** The CA that a datastore trusts. */
export interface ClientAuthority {
  /** PEM bundle that tenants check the servers against. */
  readonly ca: string;
  /** The CA that signs tenants' certificates. */
  readonly signer: Credential;
}

/**
 * The client certificate of a tenant's user: the common name is the user, it is for client authentication, and valid for one year but
 * never longer than its CA. Only one year, because datastores do not support revocation (etcd) or get no revocation lists
 * (databases): a leaked copy expires by itself, and a renewal is an ordinary roll-out.
 * `current` is returned while its CA, user and key fit and a renewal would gain nothing. Throws `StoreError` (CredentialsInvalid) when
 * the CA has expired.
 */
export async function issuedClientTls(
  authority: ClientAuthority,
  tenancy: Tenancy,
  current: ClientTls | undefined,
  now: Date,
): Promise<ClientTls> {
  const lifetime = clientLifetime([authority.signer], now);
  const profile: Profile = { commonName: tenancy.user, usages: ['clientAuth'] };
  const { certificate, key } = current ?? {};
  if (certificate !== undefined && key !== undefined) {
    const pair = { certificate, key };
    const fits = evaluate(pair, { profile, ca: authority.signer.certificate, now, thresholdMs: 0 }).keep;
    if (fits && !isDue(certificate, now, lifetime.notAfter)) return { ca: authority.ca, ...pair };
  }
  const pair = await issue(profile, authority.signer, { algorithm: 'ECDSA-P256', lifetime });
  return { ca: authority.ca, certificate: pair.certificate, key: pair.key };
}

/**
 * The validity of a client certificate that is issued now, see `issuedClientTls`: it ends before each of the signers. Throws `StoreError`
 * (CredentialsInvalid) when one of them has expired.
 */
export function clientLifetime(signers: readonly Credential[], now: Date): Lifetime {
  const ends = signers.map(({ certificate }) => new X509Certificate(certificate).validToDate);
  const expired = ends.find((end) => end <= now);
  if (expired !== undefined) {
    const field = 'spec.tlsConfig.certificateAuthority.certificate';
    throw new StoreError(
      'CredentialsInvalid',
      `${field} expired at ${expired.toISOString()}: renew the CA of the datastore`,
    );
  }
  const wanted = lifetimeFrom(now, certificateValidityMs);
  const notAfter = new Date(Math.min(wanted.notAfter.getTime(), ...ends.map((end) => end.getTime())));
  return { ...wanted, notAfter };
}

/** True near its end if a new one would last longer: an expiring CA limits all its certificates alike. */
export function isDue(certificate: string, now: Date, possibleEnd: Date): boolean {
  const end = new X509Certificate(certificate).validToDate.getTime();
  return end <= now.getTime() + renewBeforeMs && possibleEnd.getTime() - end >= day;
}
