import type { X509Certificate } from 'node:crypto';
import { InvalidInputError } from '../invalid-input-error.ts';
import { parseCertificates } from './certificate-chain.ts';
import type { IssueOptions } from './issue.ts';
import { evaluate } from './evaluate.ts';
import type { Expectation } from './evaluate.ts';
import type { KeyPair, Profile, Verdict } from './key-pair.ts';
import { newPrivateKey, readSigner, sign, signsAuthorities } from './sign.ts';
import type { Signer } from './sign.ts';

/** What a chain that several CAs must accept is evaluated against. */
export interface CrossSignedExpectation extends Pick<Expectation, 'now' | 'thresholdMs'> {
  readonly profile: Profile;
  /** PEM of every CA that must accept it; of a bundle, the first certificate. */
  readonly cas: readonly string[];
}

/** The intermediate CA: it signs one certificate with that one's own usages and no further CA. */
function between({ usages }: Profile): Profile {
  return { commonName: 'cross-signed', ca: true, pathLength: 0, usages };
}

function refuseLeafSigner(signer: Required<Signer>): void {
  if (signsAuthorities(signer)) return;
  throw new InvalidInputError({
    field: 'ca.crt',
    value: signer.certificate.subject,
    reason: 'cannot sign other CAs (its path length is 0)',
    remedy: 'use a CA without that limit, or one CA for all',
  });
}

/**
 * One key with a certificate that each of `cas` accepts, for clients that can present only one: it is signed by a new
 * intermediate CA, for which every one of `cas` has signed a certificate. Servers must search the whole chain for the certificate
 * from their CA (RFC 4158 §2.4.2), as Go's do; OpenSSL tries only one. The key of the intermediate CA exists only during this
 * call. `certificate` holds the certificate itself, then the intermediate ones in the order of `cas`. Throws `InvalidInputError`
 * for a CA that cannot be read or must not sign CAs.
 */
export async function issueCrossSigned(
  profile: Profile,
  cas: readonly KeyPair[],
  { algorithm, lifetime }: IssueOptions,
): Promise<KeyPair> {
  const signers = cas.map((authority) => readSigner(authority));
  signers.forEach(refuseLeafSigner);
  const key = await newPrivateKey(algorithm);
  const signed = await Promise.all(signers.map((signer) => sign(between(profile), key, signer, lifetime)));
  const middle = signed.map(({ certificate }) => certificate);
  const first = readSigner({ certificate: middle[0] ?? '', key: signed[0]?.key ?? '' });
  const leaf = await sign(profile, await newPrivateKey(algorithm), first, lifetime);
  return { certificate: [leaf.certificate, ...middle].join(''), key: leaf.key };
}

function leadsTo(ca: string, middle: readonly X509Certificate[]): boolean {
  const [authority] = parseCertificates(ca, 'ca.crt');
  return middle.some(
    (certificate) => certificate.ca && certificate.checkIssued(authority) && certificate.verify(authority.publicKey),
  );
}

/**
 * Decides whether a chain of `issueCrossSigned` can be kept: the certificate passes `evaluate`, and the chain leads to each of
 * the CAs and to no other. Throws `InvalidInputError` when one of the expectation's own `cas` cannot be read.
 */
export function evaluateCrossSigned(pair: KeyPair, { cas, ...leaf }: CrossSignedExpectation): Verdict {
  let middle: readonly X509Certificate[];
  try {
    middle = parseCertificates(pair.certificate, 'certificate').slice(1);
  } catch (error) {
    if (error instanceof InvalidInputError) return { keep: false, reason: 'Malformed', message: error.message };
    throw error;
  }
  const [first] = middle;
  const spki = ({ publicKey }: X509Certificate): Buffer => publicKey.export({ type: 'spki', format: 'der' });
  const ofOneKey = first !== undefined && middle.every((certificate) => spki(certificate).equals(spki(first)));
  if (!ofOneKey || middle.length !== cas.length || !cas.every((ca) => leadsTo(ca, middle))) {
    const message = 'the chain does not lead to each of the current CAs';
    return { keep: false, reason: 'UntrustedIssuer', message };
  }
  return evaluate(pair, { ...leaf, ca: first.toString() });
}
