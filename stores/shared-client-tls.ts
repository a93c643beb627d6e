import { InvalidInputError } from '../kubeadm/invalid-input-error.ts';
import { parseCertificates } from '../kubeadm/pki/certificate-chain.ts';
import { issueCrossSigned, evaluateCrossSigned } from '../kubeadm/pki/cross-signed.ts';
import type { KeyPair, Profile } from '../kubeadm/pki/key-pair.ts';
import type { Credential } from './credentials.ts';
import type { ClientTls, Tenancy } from './driver.ts';
import { clientLifetime, isDue, issuedClientTls } from './issued-client-tls.ts';
import type { ClientAuthority } from './issued-client-tls.ts';
import { StoreError } from './store-error.ts';

/** The certificates of all bundles without duplicates, in the order of their first occurrence. */
function bundleOf(authorities: readonly ClientAuthority[]): string {
  const all = authorities.flatMap(({ ca }) => parseCertificates(ca, 'ca.crt').map(String));
  return [...new Set(all.map((pem) => `${pem.trim()}\n`))].join('');
}

/**
 * Like `issuedClientTls`, for a tenant whose client uses several datastores and can present only one certificate: it returns one that all
 * of them accept, and the bundle of all their CAs. With one signer that is an ordinary certificate; with several it is cross-signed.
 * Throws `StoreError` Unsupported, too, when a CA must not sign other CAs.
 */
export async function sharedClientTls(
  authorities: readonly [ClientAuthority, ...ClientAuthority[]],
  tenancy: Tenancy,
  current: ClientTls | undefined,
  now: Date,
): Promise<ClientTls> {
  const ca = bundleOf(authorities);
  const signers = new Map(authorities.map(({ signer }): [string, Credential] => [signer.certificate, signer]));
  if (signers.size === 1) return issuedClientTls({ ca, signer: authorities[0].signer }, tenancy, current, now);
  const pair = await crossSigned([...signers.values()], tenancy, current, now);
  return { ca, ...pair };
}

async function crossSigned(
  signers: readonly Credential[],
  tenancy: Tenancy,
  current: ClientTls | undefined,
  now: Date,
): Promise<KeyPair> {
  const lifetime = clientLifetime(signers, now);
  const profile: Profile = { commonName: tenancy.user, usages: ['clientAuth'] };
  const { certificate, key } = current ?? {};
  if (certificate !== undefined && key !== undefined) {
    const cas = signers.map((signer) => signer.certificate);
    const fits = evaluateCrossSigned({ certificate, key }, { profile, cas, now, thresholdMs: 0 }).keep;
    if (fits && !isDue(certificate, now, lifetime.notAfter)) return { certificate, key };
  }
  try {
    return await issueCrossSigned(profile, signers, { algorithm: 'ECDSA-P256', lifetime });
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    const text = `no single client certificate is valid for all of these datastores: ${error.message}`;
    throw new StoreError('Unsupported', text, { cause: error });
  }
}
