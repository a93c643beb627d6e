import { InvalidInputError } from '../../../../kubeadm/invalid-input-error.ts';
import { parseCertificates } from '../../../../kubeadm/pki/certificate-chain.ts';
import { evaluate } from '../../../../kubeadm/pki/evaluate.ts';
import type { KeyPair, Verdict } from '../../../../kubeadm/pki/key-pair.ts';
import { parsePrivateKey } from '../../../../kubeadm/pki/private-key.ts';
import { authorityProfiles } from '../../../../kubeadm/pki/profiles.ts';
import type { AuthoritySecret } from '../ca-secrets.ts';
import { offeredPair } from './rotating-ca.ts';

type Data = Readonly<Record<string, string>>;

/** Decides whether a pair can be used as the CA. Any subject is accepted: the author may supply a CA of their own. */
export function evaluateAuthority(
  { authority }: Pick<AuthoritySecret, 'authority'>,
  pair: KeyPair,
  now: Date,
): Verdict {
  const expected = { profile: { ...authorityProfiles[authority], dnsNames: [] }, now, thresholdMs: 0 };
  const verdict = evaluate(pair, expected);
  return !verdict.keep && verdict.reason === 'WrongSubject' ? { keep: true } : verdict;
}

/**
 * The pair in a Secret: the first usable copy, otherwise the first copy, with the verdict about it. Another copy counts only if
 * it has the same key: another key means another CA, which would cut off every worker.
 */
export function storedPair(
  where: AuthoritySecret,
  data: Data,
  now: Date,
): { readonly pair: KeyPair; readonly verdict: Verdict } {
  const evaluated = where.copies.map((copy) => {
    const stored = { certificate: data[copy.certificate] ?? '', key: data[copy.key] ?? '' };
    const verdict = evaluateAuthority(where, stored, now);
    const isBundle = copy.isBundle === true && data[where.keys.bundle] !== undefined && verdict.keep;
    return { pair: isBundle ? { ...stored, certificate: firstOf(stored.certificate) } : stored, verdict };
  });
  const [first] = evaluated;
  if (first === undefined) throw new Error(`no CA is declared for the Secret ${where.name}`);
  const fit = evaluated.find(({ verdict }) => verdict.keep) ?? first;
  if (first.verdict.keep || fit === first || !isOtherKey(first.pair.key, fit.pair.key)) return fit;
  const { reason, message } = first.verdict;
  const [, other] = where.copies;
  const text = `${message}, and ${other?.key ?? 'the other key'} belongs to another CA, which is not used in its place`;
  return { pair: first.pair, verdict: { keep: false, reason, message: text } };
}

/** True when both keys can be read and are different. */
function isOtherKey(one: string, other: string): boolean {
  try {
    return !parsePrivateKey(one, 'key').equals(parsePrivateKey(other, 'key'));
  } catch (error) {
    if (error instanceof InvalidInputError) return false;
    throw error;
  }
}

function firstOf(bundle: string): string {
  return `${parseCertificates(bundle, 'tls.crt')[0].toString().trim()}\n`;
}

/** True when Steward did not generate the certificate: it has another subject, or another CA signed it. */
function isForeign({ authority }: AuthoritySecret, pem: string): boolean {
  const [certificate] = parseCertificates(pem, 'ca.crt');
  const { CN: commonName } = certificate.toLegacyObject().subject;
  return commonName !== authorityProfiles[authority].commonName || !certificate.checkIssued(certificate);
}

/** Why a CA cannot be rotated gradually; undefined when it can. Only the owner of a user-supplied CA has its successor. */
export function rotationBlocker(where: AuthoritySecret, data: Data, now: Date): string | undefined {
  const { nextCertificate, nextKey } = where.keys;
  const { pair, verdict } = storedPair(where, data, now);
  if (!verdict.keep) return `Secret ${where.name} cannot be used (${verdict.message})`;
  const offered = offeredPair(where, data, pair);
  if (offered === undefined) {
    if (!isForeign(where, pair.certificate)) return undefined;
    return `Secret ${where.name} holds a user-supplied CA: store the new CA under the keys ${nextCertificate} and ${nextKey}`;
  }
  const about = evaluateAuthority(where, offered, now);
  if (about.keep) return undefined;
  return `${nextCertificate} and ${nextKey} in Secret ${where.name} cannot be used (${about.message})`;
}
