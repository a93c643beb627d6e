import { describe, expect, test } from '@jest/globals';
import 'reflect-metadata';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { generateKeyPairSync, webcrypto } from 'node:crypto';
import { issueCa } from './issue.ts';
import { evaluatePrivateKey, evaluateSigner } from './evaluate-signer.ts';
import type { KeyPair } from './key-pair.ts';
import { lifetimeFrom } from './lifetime.ts';

const lifetime = lifetimeFrom(new Date('2026-03-01T12:00:00Z'), 1000);
const pem = { type: 'pkcs8', format: 'pem' } as const;
const rsa = (modulusLength: number): string =>
  generateKeyPairSync('rsa', { modulusLength }).privateKey.export(pem).toString();
const ec = (namedCurve: string): string => generateKeyPairSync('ec', { namedCurve }).privateKey.export(pem).toString();

/** A CA whose certificate has these key usages. */
const authorityFor = (usages: KeyUsageFlags): Promise<KeyPair> => authorityWith(new KeyUsagesExtension(usages, true));

/** A CA whose certificate has these extensions. */
async function authorityWith(...extensions: readonly Extension[]): Promise<KeyPair> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    ...{ name: 'CN=own', keys, signingAlgorithm: algorithm },
    extensions: [new BasicConstraintsExtension(true, undefined, true), ...extensions],
  });
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return {
    certificate: certificate.toString('pem'),
    key: `-----BEGIN PRIVATE KEY-----\n${der}\n-----END PRIVATE KEY-----\n`,
  };
}

const both = ['clientAuth', 'serverAuth'] as const;
const oid = { any: '2.5.29.37.0', server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2', mail: '1.3.6.1.5.5.7.3.4' };
const der = (hex: string): ArrayBuffer => Uint8Array.from(Buffer.from(hex, 'hex')).buffer;
/** dNSName `example.com` is permitted. */
const nameConstraints = der('3011a00f300d820b6578616d706c652e636f6d');

describe('judgeSigner', () => {
  test.each<[string, readonly string[], readonly ('clientAuth' | 'serverAuth')[], RegExp | undefined]>([
    ['clients and servers', [oid.client, oid.server], both, undefined],
    ['everything', [oid.any], both, undefined],
    ['clients alone', [oid.client], both, /lack serverAuth:.*reissued/],
    ['clients alone, which it signs alone', [oid.client], ['clientAuth'], undefined],
    ['servers alone', [oid.server], ['clientAuth'], /lack clientAuth:/],
    ['mail', [oid.mail], both, /lack clientAuth and serverAuth:/],
  ])('returns for a CA with the extended key usages %s what Go would', async (_name, usages, signed, why) => {
    const verdict = evaluateSigner(await authorityWith(new ExtendedKeyUsageExtension([...usages])), signed);
    if (why === undefined) expect(verdict).toEqual({ keep: true });
    else expect(verdict).toMatchObject({ reason: 'WrongUsages', message: expect.stringMatching(why) });
  });

  test.each([true, false])('refuses a CA with name constraints, critical or not (%s)', async (critical) => {
    const restricted = await authorityWith(new Extension('2.5.29.30', critical, nameConstraints));
    expect(evaluateSigner(restricted, both)).toMatchObject({ reason: 'NameConstraints' });
  });

  test('refuses a CA with an unknown critical extension', async () => {
    const unknown = (critical: boolean) => authorityWith(new Extension('1.3.6.1.4.1.99999.1', critical, der('0500')));
    expect(evaluateSigner(await unknown(false), both)).toEqual({ keep: true });
    expect(evaluateSigner(await unknown(true), both)).toMatchObject({
      reason: 'CriticalExtension',
      message: expect.stringContaining('1.3.6.1.4.1.99999.1'),
    });
  });

  test.each(['ECDSA-P256', 'ECDSA-P384', 'RSA-2048'] as const)('accepts a CA with a key %s', async (algorithm) => {
    const own = await issueCa({ commonName: 'own', usages: [] }, { algorithm, lifetime });
    expect(evaluateSigner(own, both)).toEqual({ keep: true });
  });

  test('refuses a CA with a key that Kubernetes cannot sign with', async () => {
    const { certificate } = await authorityFor(KeyUsageFlags.keyCertSign);
    expect(evaluateSigner({ certificate, key: rsa(1024) }, both)).toMatchObject({ keep: false, reason: 'UnfitKey' });
  });

  test('refuses a CA whose certificate may not sign certificates', async () => {
    expect(evaluateSigner(await authorityFor(KeyUsageFlags.keyCertSign), both)).toEqual({ keep: true });
    expect(evaluateSigner(await authorityFor(KeyUsageFlags.digitalSignature), both)).toMatchObject({
      keep: false,
      reason: 'WrongUsages',
    });
  });
});

describe('judgePrivateKey', () => {
  test.each([
    ['an RSA key of 1024 bits', rsa(1024), 'UnfitKey'],
    ['a key on a curve that Go does not know', ec('secp256k1'), 'UnfitKey'],
    ['a key on P-521', ec('secp521r1'), undefined],
    ['an RSA key of 2048 bits', rsa(2048), undefined],
  ])('returns for %s what Kubernetes would', (_name, key, reason) => {
    const verdict = evaluatePrivateKey(key, 'tls.key');
    expect(verdict.keep ? undefined : verdict.reason).toBe(reason);
  });
});
