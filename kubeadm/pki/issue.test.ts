import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import forge from 'node-forge';
import { caCertHashes } from './certificate-chain.ts';
import { issue, issueCa, issueServiceAccountKeys } from './issue.ts';
import { evaluate } from './evaluate.ts';
import type { EncryptionAlgorithm, KeyPair } from './key-pair.ts';
import { caValidityMs, certificateValidityMs, lifetimeFrom } from './lifetime.ts';
import { authorityProfiles, leafProfiles } from './profiles.ts';
import type { PkiInputs } from './profiles.ts';

const now = new Date('2026-03-01T12:00:00.789Z');
const inputs: PkiInputs = {
  serviceCidr: '10.96.0.0/16,fd00:10:96::/112',
  clusterDomain: 'cluster.local',
  advertiseAddress: '192.0.2.7',
  controlPlaneEndpoint: 'api.example.org:6443',
  certSANs: ['127.0.0.1', 'localhost', '*.example.org', 'fd00::7'],
};
const leaves = leafProfiles(inputs);
const ca = (algorithm: EncryptionAlgorithm = 'ECDSA-P256'): Promise<KeyPair> =>
  issueCa(authorityProfiles.ca, { algorithm, lifetime: lifetimeFrom(now, caValidityMs) });
const leaf = (
  authority: KeyPair,
  name: keyof typeof leaves = 'apiserver',
  algorithm: EncryptionAlgorithm = 'ECDSA-P256',
): Promise<KeyPair> =>
  issue(leaves[name].profile, authority, { algorithm, lifetime: lifetimeFrom(now, certificateValidityMs) });

function opensslVerify(authority: KeyPair, pair: KeyPair): string {
  const directory = mkdtempSync(join(tmpdir(), 'pki-'));
  try {
    writeFileSync(join(directory, 'ca.crt'), authority.certificate);
    writeFileSync(join(directory, 'leaf.crt'), pair.certificate);
    const at = String(now.getTime() / 1000 + 60).split('.')[0] ?? '';
    const args = ['verify', '-x509_strict', '-attime', at, '-CAfile', 'ca.crt', 'leaf.crt'];
    return execFileSync('openssl', args, { cwd: directory, encoding: 'utf8' }).trim();
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const heads = { 'ECDSA-P256': 'EC', 'ECDSA-P384': 'EC', 'RSA-2048': 'RSA', 'RSA-3072': 'RSA' } as const;

describe.each(['ECDSA-P256', 'ECDSA-P384', 'RSA-2048', 'RSA-3072'] as const)('issue with %s', (algorithm) => {
  test('creates a CA and certificates that OpenSSL accepts under its strict rules', async () => {
    const authority = await ca(algorithm);
    for (const name of ['apiserver', 'admin.conf'] as const) {
      expect(opensslVerify(authority, await leaf(authority, name, algorithm))).toBe('leaf.crt: OK');
    }
  });

  test('writes PEM like kubeadm, each with one trailing newline, with the key of the certificate', async () => {
    const pair = await ca(algorithm);
    const head = heads[algorithm];
    expect(pair.certificate).toMatch(/^-----BEGIN CERTIFICATE-----\n[^]*\n-----END CERTIFICATE-----\n$/);
    expect(pair.key).toMatch(
      new RegExp(`^-----BEGIN ${head} PRIVATE KEY-----\n[^]*\n-----END ${head} PRIVATE KEY-----\n$`),
    );
    expect(createPublicKey(pair.key).equals(new X509Certificate(pair.certificate).publicKey)).toBe(true);
  });

  test('creates service-account keys whose public half is PKIX', async () => {
    const keys = await issueServiceAccountKeys(algorithm);
    expect(keys.publicKey).toMatch(/^-----BEGIN PUBLIC KEY-----\n[^]*\n-----END PUBLIC KEY-----\n$/);
    expect(createPublicKey(keys.privateKey).equals(createPublicKey(keys.publicKey))).toBe(true);
  });
});

describe('issue with Ed25519', () => {
  const life = { lifetime: lifetimeFrom(now, certificateValidityMs) };
  const profile = { commonName: 'one', usages: ['serverAuth'], ipAddresses: ['192.0.2.7'] } as const;

  test('creates a CA and certificates that OpenSSL accepts, with keys in the only form that exists for them', async () => {
    const options = { ...life, algorithm: 'Ed25519' } as const;
    const authority = await issueCa({ commonName: 'OS CA', ca: true, pathLength: 1, usages: [] }, options);
    const pair = await issue(profile, authority, options);
    expect(opensslVerify(authority, pair)).toBe('leaf.crt: OK');
    expect(pair.key).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    const expectation = { profile, ca: authority.certificate, now, thresholdMs: 0 };
    expect(evaluate(pair, { ...expectation, keyTypes: ['ed25519'] })).toEqual({ keep: true });
    expect(evaluate(pair, expectation)).toMatchObject({ keep: false, reason: 'Malformed' });
  });

  test('accepts neither a CA of another kind of key, nor this CA for another kind', async () => {
    const ed = await issueCa({ commonName: 'OS CA', ca: true, usages: [] }, { ...life, algorithm: 'Ed25519' });
    await expect(issue(profile, ed, { ...life, algorithm: 'ECDSA-P256' })).rejects.toThrow('of type ed25519');
    await expect(issue(profile, await ca(), { ...life, algorithm: 'Ed25519' })).rejects.toThrow('of type ec');
  });
});

describe('issue', () => {
  test('puts names, usages and CA flags of the profile into the certificate', async () => {
    const authority = await ca();
    const certificate = new X509Certificate((await leaf(authority)).certificate);
    expect(certificate.subject).toBe('CN=kube-apiserver');
    expect(certificate.issuer).toBe('CN=kubernetes');
    expect(certificate.ca).toBe(false);
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(certificate.checkHost('kubernetes.default.svc.cluster.local')).toBeDefined();
    expect(certificate.checkHost('a.example.org')).toBeDefined();
    for (const address of ['10.96.0.1', '192.0.2.7', '127.0.0.1', 'fd00::7']) {
      expect(certificate.checkIP(address)).toBe(address);
    }
    expect(new X509Certificate(authority.certificate).ca).toBe(true);
  });

  test.each(['"system:masters"', 'a"b"c', 'a\\b', '#0c0161', 'a,O=b', 'a+CN=b', ' a ', 'ä', '日本', "o'", '*.a'])(
    'writes the name %j literally, never as the notation of another one',
    async (name) => {
      const profile = { commonName: name, organizations: [name], usages: ['clientAuth'] } as const;
      const options = { algorithm: 'ECDSA-P256', lifetime: lifetimeFrom(now, certificateValidityMs) } as const;
      const certificate = new X509Certificate((await issue(profile, await ca(), options)).certificate);
      expect(certificate.toLegacyObject().subject).toMatchObject({ O: name, CN: name });
    },
  );

  test('is valid from five minutes before until the given time after, in whole seconds', async () => {
    const certificate = new X509Certificate((await leaf(await ca())).certificate);
    expect(certificate.validFromDate.toISOString()).toBe('2026-03-01T11:55:00.000Z');
    expect(certificate.validToDate.toISOString()).toBe('2027-03-01T12:00:00.000Z');
  });

  test('gives every certificate a unique positive serial number of 16 octets', async () => {
    const authority = await ca();
    const serials = await Promise.all(
      Array.from({ length: 20 }, async () => new X509Certificate((await leaf(authority)).certificate).serialNumber),
    );
    expect(new Set(serials).size).toBe(20);
    for (const serial of serials) expect(serial).toMatch(/^[4-7][0-9A-F]{31}$/);
  });

  test('creates RSA certificates that an independent reader verifies', async () => {
    const authority = await ca('RSA-2048');
    const pair = await leaf(authority, 'admin.conf', 'RSA-2048');
    const parsed = forge.pki.certificateFromPem(pair.certificate);
    expect(forge.pki.certificateFromPem(authority.certificate).verify(parsed)).toBe(true);
    expect(parsed.subject.getField('O')).toMatchObject({ value: 'kubeadm:cluster-admins' });
    expect(parsed.getExtension('keyUsage')).toMatchObject({
      digitalSignature: true,
      keyEncipherment: true,
      critical: true,
    });
  });

  test('accepts the key of a CA in PKCS#8, PKCS#1 and SEC1 form', async () => {
    const { privateKey: ec } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const { privateKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const ecCa = await ca();
    const pkcs8 = createPkcs8(ecCa.key);
    expect(pkcs8).toContain('BEGIN PRIVATE KEY');
    expect(opensslVerify(ecCa, await leaf({ ...ecCa, key: pkcs8 }))).toBe('leaf.crt: OK');
    await expect(leaf({ ...ecCa, key: ec.export({ type: 'sec1', format: 'pem' }).toString() })).rejects.toThrow(
      'ca.key is not the private key of the first certificate in ca.crt: provide the certificate and the key of the same CA',
    );
    await expect(leaf({ ...ecCa, key: rsa.export({ type: 'pkcs1', format: 'pem' }).toString() })).rejects.toThrow(
      'ca.key',
    );
  });

  test('signs for a CA on another curve or of RSA, whatever the algorithm of the certificate', async () => {
    for (const algorithm of ['ECDSA-P384', 'RSA-2048'] as const) {
      const authority = await ca(algorithm);
      expect(opensslVerify(authority, await leaf(authority))).toBe('leaf.crt: OK');
    }
  });

  test('signs with the first certificate of a bundle', async () => {
    const [first, second] = [await ca(), await ca()];
    const pair = await leaf({ certificate: first.certificate + second.certificate, key: first.key });
    expect(opensslVerify(first, pair)).toBe('leaf.crt: OK');
  });

  test('names the file and the fix if a CA cannot be read, and never the key', async () => {
    const authority = await ca();
    await expect(leaf({ certificate: authority.certificate, key: 'secret' })).rejects.toThrow(
      'ca.key holds no private key in PEM form: provide an unencrypted RSA or EC private key in PEM form (PKCS#8, PKCS#1 or SEC1)',
    );
    const broken = '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n';
    await expect(leaf({ certificate: authority.certificate, key: broken })).rejects.toThrow(
      /^(?!.*c2VjcmV0).*cannot be decoded/,
    );
    await expect(leaf({ certificate: '', key: authority.key })).rejects.toThrow('ca.crt holds no certificate');
    const { privateKey } = generateKeyPairSync('ed25519');
    const ed25519 = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    await expect(leaf({ certificate: authority.certificate, key: ed25519 })).rejects.toThrow(
      'holds a key of type ed25519',
    );
  });

  test('hashes the public key of every certificate of a bundle for discovery', async () => {
    const [first, second] = [await ca(), await ca('RSA-2048')];
    const hashes = caCertHashes(first.certificate + second.certificate);
    expect(hashes).toEqual([...caCertHashes(first.certificate), ...caCertHashes(second.certificate)]);
    for (const hash of hashes) expect(hash).toMatch(/^sha256:[0-9a-f]{64}$/);
  });
});

function createPkcs8(pem: string): string {
  return execFileSync('openssl', ['pkcs8', '-topk8', '-nocrypt'], { input: pem, encoding: 'utf8' });
}
