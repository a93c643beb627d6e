import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import {
  cryptoProvider,
  Extension,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
} from '@peculiar/x509';
import { kinds } from '../../api/core/kinds.ts';
import type { CertificateSigningRequest } from '../../api/core/kinds.ts';
import type { DraftOf, Manifest } from '../../api/meta.ts';

cryptoProvider.set(webcrypto);

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
let pair: Promise<webcrypto.CryptoKeyPair> | undefined;

/** What a kubelet asks for. */
export interface Wanted {
  readonly commonName?: string;
  readonly organization?: string;
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
}

/** A PKCS #10 request in PEM, by default that of node worker-1 for its name and address. All of them have one key. */
export async function requestPem(wanted: Wanted = {}): Promise<string> {
  const { commonName = 'system:node:worker-1', organization = 'system:nodes' } = wanted;
  const { dnsNames = ['worker-1'], ipAddresses = ['192.0.2.9'] } = wanted;
  pair ??= webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const names = [
    ...dnsNames.map((value) => ({ type: 'dns' as const, value })),
    ...ipAddresses.map((value) => ({ type: 'ip' as const, value })),
  ];
  const extensions: Extension[] = [new SubjectAlternativeNameExtension(names)];
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: [{ O: [organization] }, { CN: [commonName] }],
    keys: await pair,
    signingAlgorithm: algorithm,
    extensions,
  });
  return `${request.toString('pem').trim()}\n`;
}

/** The object by which a kubelet asks, by default worker-1. */
export function signingRequest(
  name: string,
  pem: string,
  spec: Partial<CertificateSigningRequest['spec']> = {},
): Manifest & DraftOf<CertificateSigningRequest> {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: kinds.CertificateSigningRequest.kind,
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'kubernetes.io/kubelet-serving',
      usages: ['digital signature', 'server auth'],
      username: 'system:node:worker-1',
      groups: ['system:nodes', 'system:authenticated'],
      ...spec,
    },
  };
}
