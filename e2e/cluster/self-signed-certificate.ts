import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';

// The X.509 library resolves its parts through decorators' metadata.
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

/** A certificate and its key, PEM. */
export interface CertificatePair {
  readonly certificate: string;
  readonly privateKey: string;
}

/** A serving certificate that signs itself (RFC 5280, ECDSA P-256), valid for these DNS names or IP addresses and one year. */
export async function selfSignedCertificate(names: readonly string[]): Promise<CertificatePair> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const { digitalSignature, keyEncipherment } = x509.KeyUsageFlags;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: Buffer.from(webcrypto.getRandomValues(new Uint8Array(16))).toString('hex'),
    name: `CN=${names[0] ?? 'e2e'}`,
    notBefore: new Date(Date.now() - 3_600_000),
    notAfter: new Date(Date.now() + 365 * 86_400_000),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(digitalSignature | keyEncipherment, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value })),
      ),
    ],
  });
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const lines = key.match(/.{1,64}/g) ?? [];
  return {
    certificate: `${certificate.toString('pem')}\n`,
    privateKey: `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`,
  };
}
