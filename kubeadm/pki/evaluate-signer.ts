import 'reflect-metadata';
import {
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509Certificate,
} from '@peculiar/x509';
import type { KeyObject } from 'node:crypto';
import { parseCertificates } from './certificate-chain.ts';
import type { KeyPair, Verdict } from './key-pair.ts';
import { parsePrivateKey } from './private-key.ts';

/** The curves that Go's x509 and Kubernetes' tokens support, with Node's names. */
const curves: readonly string[] = ['prime256v1', 'secp384r1', 'secp521r1'];

/** Smaller RSA keys are not safe, and newer Go versions refuse them. */
const leastModulus = 2048;

const keep: Verdict = { keep: true };
const weak = (message: string): Verdict => ({ keep: false, reason: 'UnfitKey', message });

function evaluateKey(key: KeyObject): Verdict {
  const { modulusLength = 0, namedCurve = 'unknown' } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'rsa') {
    return modulusLength >= leastModulus
      ? keep
      : weak(`the RSA key has ${modulusLength} bits, but at least ${leastModulus} are required`);
  }
  return curves.includes(namedCurve)
    ? keep
    : weak(`the key is on the curve ${namedCurve}, but Kubernetes supports only P-256, P-384 and P-521`);
}

/** Decides whether Kubernetes can sign with a private key in PEM. Throws `InvalidInputError` naming `field`. */
export function evaluatePrivateKey(pem: string, field: string): Verdict {
  return evaluateKey(parsePrivateKey(pem, field));
}

/** The usages of certificates that a CA signs. */
export type SignedUsage = 'clientAuth' | 'serverAuth';

/** `anyExtendedKeyUsage` (RFC 5280 §4.2.1.12). */
const anyUsage = '2.5.29.37.0';

const oids = {
  basicConstraints: '2.5.29.19',
  keyUsage: '2.5.29.15',
  extendedKeyUsage: '2.5.29.37',
  nameConstraints: '2.5.29.30',
} as const;

/** Extensions that may be critical, because they are evaluated. */
const understood: readonly string[] = [oids.basicConstraints, oids.keyUsage, oids.extendedKeyUsage];

const wrongUsages = (message: string): Verdict => ({ keep: false, reason: 'WrongUsages', message });

/** Go checks every certificate of a chain, including the trusted one; one without the extension allows all usages. */
function evaluateExtendedUsages(certificate: X509Certificate, signed: readonly SignedUsage[]): Verdict {
  const usages = certificate.getExtension(ExtendedKeyUsageExtension)?.usages.map(String);
  if (usages === undefined || usages.includes(anyUsage)) return keep;
  const missing = signed.filter((usage) => !usages.includes(ExtendedKeyUsage[usage]));
  return missing.length === 0
    ? keep
    : wrongUsages(
        `its extended key usages lack ${missing.join(' and ')}: have the certificate reissued with them, or without that extension`,
      );
}

function evaluateExtensions(certificate: X509Certificate): Verdict {
  if (certificate.getExtension(oids.nameConstraints) !== null)
    return {
      keep: false,
      reason: 'NameConstraints',
      message: `it has name constraints, which names and addresses of a control plane may violate (nameConstraints, ${oids.nameConstraints}): have the certificate reissued without them`,
    };
  const other = certificate.extensions.find(({ type, critical }) => critical && !understood.includes(type));
  if (other === undefined) return keep;
  const message = `its extension ${other.type} is critical, and programs that do not know it reject the certificate: have the certificate reissued with that extension not critical`;
  return { keep: false, reason: 'CriticalExtension', message };
}

/**
 * Decides whether Go programs accept the certificates that a CA signs for these usages: its key is of a supported kind, and its
 * certificate, as far as it states its usages, allows signing certificates (RFC 5280 §4.2.1.3) with these usages, and restricts
 * nothing else. Throws `InvalidInputError` for a pair that cannot be read.
 */
export function evaluateSigner({ certificate, key }: KeyPair, signed: readonly SignedUsage[]): Verdict {
  const verdict = evaluatePrivateKey(key, 'key');
  if (!verdict.keep) return verdict;
  const [first] = parseCertificates(certificate, 'certificate');
  const parsed = new X509Certificate(first.raw);
  const usages = parsed.getExtension(KeyUsagesExtension)?.usages;
  if (usages !== undefined && (usages & KeyUsageFlags.keyCertSign) === 0)
    return wrongUsages('the certificate is not for signing certificates (keyCertSign)');
  const extended = evaluateExtendedUsages(parsed, signed);
  return extended.keep ? evaluateExtensions(parsed) : extended;
}
