import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } from '@peculiar/x509';

/** The request of a kubelet for a serving certificate, PEM. */
export async function kubeletRequest(): Promise<string> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: 'O=system:nodes, CN=system:node:worker-1',
    extensions: [
      new SubjectAlternativeNameExtension([
        { type: 'dns', value: 'worker-1' },
        { type: 'ip', value: '10.0.0.7' },
      ]),
    ],
    keys,
    signingAlgorithm: algorithm,
  });
  return request.toString('pem');
}
