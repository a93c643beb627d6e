import { createHash, X509Certificate } from 'node:crypto';
import { Latest } from '../../api/latest.ts';
import { InvalidInputError } from '../invalid-input-error.ts';

const certificateBlock = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** The certificates that were parsed last, by their PEM: one reconcile of a tenant needs the same ones many times. */
const latest = new Latest<X509Certificate>(64);

/** Throws for a certificate whose public key cannot be decoded, too: that would only be found out when the key is needed. */
function decode(block: string): X509Certificate {
  const certificate = new X509Certificate(block);
  certificate.publicKey.export({ type: 'spki', format: 'der' });
  return certificate;
}

/**
 * Every certificate of a PEM bundle, in order. Throws `InvalidInputError` naming `field` when there is none or one is invalid.
 */
export function parseCertificates(pem: string, field: string): readonly [X509Certificate, ...X509Certificate[]] {
  const remedy = 'provide one or more certificates in PEM form';
  const parsed = (pem.match(certificateBlock) ?? []).map((block) => {
    try {
      return latest.of(block, decode);
    } catch (cause) {
      throw new InvalidInputError({ field, reason: 'holds a certificate that cannot be decoded', remedy }, { cause });
    }
  });
  const [first, ...rest] = parsed;
  if (first === undefined) throw new InvalidInputError({ field, reason: 'holds no certificate in PEM form', remedy });
  return [first, ...rest];
}

/**
 * The discovery hashes of a CA bundle, `sha256:` and the hex SHA-256 of each certificate's Subject Public Key Info (RFC 7469), as
 * `kubeadm join --discovery-token-ca-cert-hash` takes them. Throws `InvalidInputError`.
 */
export function caCertHashes(pem: string): readonly string[] {
  return parseCertificates(pem, 'ca.crt').map((certificate) => {
    const spki = certificate.publicKey.export({ type: 'spki', format: 'der' });
    return `sha256:${createHash('sha256').update(spki).digest('hex')}`;
  });
}
