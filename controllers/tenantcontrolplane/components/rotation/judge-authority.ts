import { InvalidInputError } from '../../../../kubeadm/invalid-input-error.ts';
import { parseCertificates } from '../../../../kubeadm/pki/certificate-chain.ts';
import { judge } from '../../../../kubeadm/pki/judge.ts';
import type { KeyPair, Verdict } from '../../../../kubeadm/pki/key-pair.ts';
import { parsePrivateKey } from '../../../../kubeadm/pki/private-key.ts';
import { authorityProfiles } from '../../../../kubeadm/pki/profiles.ts';
import type { AuthoritySecret } from '../authority-secrets.ts';
import { offeredPair } from './rotating-authority.ts';

type Data = Readonly<Record<string, string>>;

/** Decides whether a pair can be the authority. Any subject will do: the author may bring an authority of their own. */
export function judgeAuthority({ authority }: Pick<AuthoritySecret, 'authority'>, pair: KeyPair, now: Date): Verdict {
  const expected = { profile: { ...authorityProfiles[authority], dnsNames: [] }, now, thresholdMs: 0 };
  const verdict = judge(pair, expected);
  return !verdict.keep && verdict.reason === 'WrongSubject' ? { keep: true } : verdict;
}

/**
 * The pair in a Secret: of its copies the first that can be used, else the first, with the verdict about it. A further copy counts only
 * where it can be one: with another key than the first it is another authority, which cuts off every worker.
 */
export function storedPair(
  where: AuthoritySecret,
  data: Data,
  now: Date,
): { readonly pair: KeyPair; readonly verdict: Verdict } {
  const judged = where.copies.map((copy) => {
    const stored = { certificate: data[copy.certificate] ?? '', key: data[copy.key] ?? '' };
    const verdict = judgeAuthority(where, stored, now);
    const isBundle = copy.isBundle === true && data[where.keys.bundle] !== undefined && verdict.keep;
    return { pair: isBundle ? { ...stored, certificate: firstOf(stored.certificate) } : stored, verdict };
  });
  const [first] = judged;
  if (first === undefined) throw new Error(`the Secret ${where.name} is said to hold no authority`);
  const fit = judged.find(({ verdict }) => verdict.keep) ?? first;
  if (first.verdict.keep || fit === first || !isOtherKey(first.pair.key, fit.pair.key)) return fit;
  const { reason, message } = first.verdict;
  const [, other] = where.copies;
  const told = `${message}, and ${other?.key ?? 'the other'} belongs to another authority, which is not taken in its place`;
  return { pair: first.pair, verdict: { keep: false, reason, message: told } };
}

/** True when both can be read and are not one key. */
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

/** True when the certificate is not one that we made: of another subject, or signed by another authority. */
function isForeign({ authority }: AuthoritySecret, pem: string): boolean {
  const [certificate] = parseCertificates(pem, 'ca.crt');
  const { CN: commonName } = certificate.toLegacyObject().subject;
  return commonName !== authorityProfiles[authority].commonName || !certificate.checkIssued(certificate);
}

/**
 * Why an authority cannot be replaced in two phases; undefined when it can. Nobody but its owner has the successor of an authority
 * that somebody brought.
 */
export function obstacleToRotation(where: AuthoritySecret, data: Data, now: Date): string | undefined {
  const { nextCertificate, nextKey } = where.keys;
  const { pair, verdict } = storedPair(where, data, now);
  if (!verdict.keep) return `Secret ${where.name} is of no use (${verdict.message})`;
  const offered = offeredPair(where, data, pair);
  if (offered === undefined) {
    if (!isForeign(where, pair.certificate)) return undefined;
    return `Secret ${where.name} holds an authority of your own: put the one that is to follow it under ${nextCertificate} and ${nextKey}`;
  }
  const about = judgeAuthority(where, offered, now);
  if (about.keep) return undefined;
  return `${nextCertificate} and ${nextKey} in Secret ${where.name} are of no use (${about.message})`;
}
