import { X509Certificate } from 'node:crypto';
import { issue } from '../kubeadm/pki/issue.ts';
import { judge } from '../kubeadm/pki/judge.ts';
import type { Lifetime, Profile } from '../kubeadm/pki/key-pair.ts';
import { certificateValidityMs, lifetimeFrom } from '../kubeadm/pki/lifetime.ts';
import type { Credential } from './credentials.ts';
import type { ClientTls, Tenancy } from './driver.ts';
import { StoreError } from './store-error.ts';

const day = 24 * 60 * 60 * 1000;

/** A certificate with less left is renewed: a month in which a stopped operator is noticed before a tenant stops. */
const renewBeforeMs = 30 * day;

/** Whose certificates a store trusts. */
export interface ClientAuthority {
  /** PEM bundle that tenants check the servers against. */
  readonly ca: string;
  /** The CA that signs tenants' certificates. */
  readonly signer: Credential;
}

/**
 * The certificate with which a tenant is its user in a store: common name = user, client authentication, one year, never
 * longer than its CA. One year and not ten because stores know no revocation (etcd) or are not told of any (databases): a copy
 * that leaks ends by itself, and a renewal is an ordinary roll-out.
 * `current` is kept while its CA, its user and its key fit and renewing would gain nothing. Throws `StoreError`
 * (CredentialsInvalid) when the CA has expired.
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
    const fits = judge(pair, { profile, ca: authority.signer.certificate, now, thresholdMs: 0 }).keep;
    if (fits && !isDue(certificate, now, lifetime.notAfter)) return { ca: authority.ca, ...pair };
  }
  const pair = await issue(profile, authority.signer, { algorithm: 'ECDSA-P256', lifetime });
  return { ca: authority.ca, certificate: pair.certificate, key: pair.key };
}

/**
 * The validity of a tenant's certificate that is made now: that of `issuedClientTls`, below each of the signers. Throws
 * `StoreError` (CredentialsInvalid) when one of them has expired.
 */
export function clientLifetime(signers: readonly Credential[], now: Date): Lifetime {
  const ends = signers.map(({ certificate }) => new X509Certificate(certificate).validToDate);
  const expired = ends.find((end) => end <= now);
  if (expired !== undefined) {
    const field = 'spec.tlsConfig.certificateAuthority.certificate';
    throw new StoreError(
      'CredentialsInvalid',
      `${field} expired at ${expired.toISOString()}: renew the CA of the store`,
    );
  }
  const wanted = lifetimeFrom(now, certificateValidityMs);
  const notAfter = new Date(Math.min(wanted.notAfter.getTime(), ...ends.map((end) => end.getTime())));
  return { ...wanted, notAfter };
}

/** Near its end, and one made now would last longer: a CA that ends soon bounds every certificate alike. */
export function isDue(certificate: string, now: Date, possibleEnd: Date): boolean {
  const end = new X509Certificate(certificate).validToDate.getTime();
  return end <= now.getTime() + renewBeforeMs && possibleEnd.getTime() - end >= day;
}
