import { createHash, createPublicKey } from 'node:crypto';
import type { X509Certificate } from 'node:crypto';
import { Latest } from '../../api/latest.ts';
import { InvalidInputError } from '../invalid-input-error.ts';
import { canonicalIp } from '../networks.ts';
import { parseCertificates } from './certificate-chain.ts';
import { certificateNames } from './certificate-names.ts';
import type { ServiceAccountKeys } from './issue.ts';
import type { KeyPair, Profile, Verdict } from './key-pair.ts';
import { parsePrivateKey } from './private-key.ts';
import type { KeyType } from './private-key.ts';

/** What a pair is evaluated against. */
export interface Expectation {
  /** Absent: any subject, usages and names are accepted. */
  readonly profile?: Profile;
  /** PEM of the CA that must have signed it; of a bundle, the first. Absent for a CA itself. */
  readonly ca?: string;
  readonly now: Date;
  /** Renew when less than this is left, in milliseconds. */
  readonly thresholdMs: number;
  /** The accepted kinds of keys; those that Kubernetes reads by default. */
  readonly keyTypes?: readonly KeyType[];
}

/** Why a pair cannot be kept; each is a condition reason. */
export type RenewalReason =
  | 'Missing'
  | 'Malformed'
  | 'KeyMismatch'
  | 'NotYetValid'
  | 'Expired'
  | 'NearExpiry'
  | 'NotAnAuthority'
  | 'UntrustedIssuer'
  | 'WrongSubject'
  | 'WrongUsages'
  | 'NamesMissing';

const keep: Verdict = { keep: true };

function renew(reason: RenewalReason, message: string): Verdict {
  return { keep: false, reason, message };
}

const usageOids = {
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  codeSigning: '1.3.6.1.5.5.7.3.3',
};

function evaluateValidity({ from, to }: Lasting, { now, thresholdMs }: Expectation): Verdict {
  const until = to.toISOString();
  if (from > now) return renew('NotYetValid', `the certificate is not valid before ${from.toISOString()}`);
  if (to <= now) return renew('Expired', `the certificate expired at ${until}`);
  if (to.getTime() <= now.getTime() + thresholdMs) return renew('NearExpiry', `the certificate expires at ${until}`);
  return keep;
}

function evaluateIssuer(certificate: X509Certificate, { ca }: Expectation): Verdict {
  if (ca === undefined) return keep;
  const [signer] = parseCertificates(ca, 'ca.crt');
  return certificate.checkIssued(signer) && certificate.verify(signer.publicKey)
    ? keep
    : renew('UntrustedIssuer', 'the certificate is not signed by the current CA');
}

function listOf(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}

function evaluateSubject(certificate: X509Certificate, profile: Profile): Verdict {
  const { CN: commonName, O: organization } = certificate.toLegacyObject().subject;
  const found = [...listOf(organization)].sort().join(', ');
  const wanted = [...(profile.organizations ?? [])].sort().join(', ');
  if (listOf(commonName).join() === profile.commonName && found === wanted) return keep;
  return renew(
    'WrongSubject',
    `the certificate is not for CN=${profile.commonName}${wanted === '' ? '' : `, O=${wanted}`}`,
  );
}

/** The types claim that there always is a list; without the extension there is none. */
function extendedKeyUsages({ keyUsage }: { readonly keyUsage?: readonly string[] }): readonly string[] {
  return keyUsage ?? [];
}

function evaluateUsages(certificate: X509Certificate, profile: Profile): Verdict {
  if ((profile.ca === true) !== certificate.ca) {
    return profile.ca === true
      ? renew('NotAnAuthority', 'the certificate is not a CA certificate')
      : renew('WrongUsages', 'the certificate is a CA certificate, but must not be one');
  }
  const found = extendedKeyUsages(certificate);
  const missing = profile.usages.filter((usage) => !found.includes(usageOids[usage]));
  return missing.length === 0 ? keep : renew('WrongUsages', `the certificate lacks the usages ${missing.join(', ')}`);
}

function evaluateNames(certificate: X509Certificate, profile: Profile): Verdict {
  const found = certificateNames(certificate);
  const wanted = [...(profile.dnsNames ?? []), ...(profile.ipAddresses ?? []).map((ip) => canonicalIp(ip) ?? ip)];
  const missing = wanted.filter((name) => !found.has(name));
  return missing.length === 0 ? keep : renew('NamesMissing', `the certificate does not name ${missing.join(', ')}`);
}

/** What does not change with time. */
interface Lasting {
  readonly from: Date;
  readonly to: Date;
  readonly isPair: boolean;
  /** When it is valid. */
  readonly verdict: Verdict;
}

/**
 * Of pairs that were evaluated last, by a hash: a tenant's certificates are evaluated in each of its reconciles. So many are those of a
 * thousand tenants.
 */
const latest = new Latest<Lasting>(16_384);

function evaluateParsed(pair: KeyPair, expectation: Expectation): Verdict {
  const { ca, profile, keyTypes } = expectation;
  const all = JSON.stringify([pair.certificate, pair.key, ca, profile, keyTypes]);
  const lasting = latest.of(createHash('sha256').update(all).digest('base64'), () =>
    evaluateLasting(pair, expectation),
  );
  if (!lasting.isPair) return renew('KeyMismatch', 'the private key does not belong to the certificate');
  const validity = evaluateValidity(lasting, expectation);
  return validity.keep ? lasting.verdict : validity;
}

function evaluateLasting(pair: KeyPair, expectation: Expectation): Lasting {
  const [certificate] = parseCertificates(pair.certificate, 'certificate');
  const key = parsePrivateKey(pair.key, 'key', expectation.keyTypes);
  const { validFromDate: from, validToDate: to } = certificate;
  const isPair = certificate.checkPrivateKey(key);
  return { from, to, isPair, verdict: isPair ? evaluateContent(certificate, expectation) : keep };
}

function evaluateContent(certificate: X509Certificate, expectation: Expectation): Verdict {
  const { profile } = expectation;
  const steps = [
    (): Verdict => evaluateIssuer(certificate, expectation),
    ...(profile === undefined
      ? []
      : [
          (): Verdict => evaluateUsages(certificate, profile),
          (): Verdict => evaluateSubject(certificate, profile),
          (): Verdict => evaluateNames(certificate, profile),
        ]),
  ];
  for (const step of steps) {
    const verdict = step();
    if (!verdict.keep) return verdict;
  }
  return keep;
}

/**
 * Decides whether a certificate and its key can be kept: present, readable, matching each other, valid now and for longer than
 * the threshold, signed by the expected CA, with the profile's usages, exactly its subject, and at least its names. Throws
 * `InvalidInputError` when the expectation's own `ca` cannot be read.
 */
export function evaluate(pair: Partial<KeyPair> | undefined, expectation: Expectation): Verdict {
  const { certificate = '', key = '' } = pair ?? {};
  if (certificate === '' || key === '') return renew('Missing', 'there is no certificate with its key yet');
  if (expectation.ca !== undefined) parseCertificates(expectation.ca, 'ca.crt');
  try {
    return evaluateParsed({ certificate, key }, expectation);
  } catch (error) {
    if (error instanceof InvalidInputError) return renew('Malformed', error.message);
    throw error;
  }
}

/**
 * Decides whether service-account keys can be kept: both present, readable and of one pair. The public half may be PKIX or
 * PKCS#1.
 */
export function evaluateServiceAccountKeys(keys: Partial<ServiceAccountKeys> | undefined): Verdict {
  const { publicKey = '', privateKey = '' } = keys ?? {};
  if (publicKey === '' || privateKey === '') return renew('Missing', 'there are no service-account keys yet');
  try {
    const derived = createPublicKey(parsePrivateKey(privateKey, 'sa.key'));
    return derived.equals(parsePublicKey(publicKey))
      ? keep
      : renew('KeyMismatch', 'sa.pub is not the public half of sa.key');
  } catch (error) {
    if (error instanceof InvalidInputError) return renew('Malformed', error.message);
    throw error;
  }
}

function parsePublicKey(pem: string): ReturnType<typeof createPublicKey> {
  try {
    return createPublicKey(pem);
  } catch (cause) {
    const remedy = 'provide an RSA or EC public key in PEM form';
    throw new InvalidInputError({ field: 'sa.pub', reason: 'cannot be decoded', remedy }, { cause });
  }
}
