import { beforeAll, describe, expect, test } from '@jest/globals';
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { issue, issueCa, issueServiceAccountKeys } from './issue.ts';
import { evaluate, evaluateServiceAccountKeys } from './evaluate.ts';
import type { Expectation } from './evaluate.ts';
import type { KeyPair, Profile } from './key-pair.ts';
import { caValidityMs, certificateValidityMs, lifetimeFrom } from './lifetime.ts';
import { authorityProfiles } from './profiles.ts';

const now = new Date('2026-03-01T12:00:00Z');
const day = 24 * 60 * 60 * 1000;
const algorithm = 'ECDSA-P256';
const profile: Profile = {
  commonName: 'kube-apiserver',
  organizations: ['b', 'a'],
  usages: ['serverAuth'],
  dnsNames: ['kubernetes', '*.example.org'],
  ipAddresses: ['192.0.2.7', 'fd00::7'],
};

let ca: KeyPair;
let otherCa: KeyPair;
let pair: KeyPair;
const sign = (subject: Profile, at = now): Promise<KeyPair> =>
  issue(subject, ca, { algorithm, lifetime: lifetimeFrom(at, certificateValidityMs) });

beforeAll(async () => {
  const options = { algorithm, lifetime: lifetimeFrom(now, caValidityMs) } as const;
  ca = await issueCa(authorityProfiles.ca, options);
  otherCa = await issueCa(authorityProfiles.ca, options);
  pair = await sign(profile);
});

const expectation = (change: Partial<Expectation> = {}): Expectation => ({
  profile,
  ca: ca.certificate,
  now,
  thresholdMs: day,
  ...change,
});

const reason = (given: Partial<KeyPair> | undefined, change: Partial<Expectation> = {}): string => {
  const verdict = evaluate(given, expectation(change));
  return verdict.keep ? 'kept' : verdict.reason;
};

describe('judge', () => {
  test('keeps a pair that matches the profile', () => {
    expect(evaluate(pair, expectation())).toEqual({ keep: true });
  });

  test.each(['serverAuth', 'clientAuth', 'codeSigning'] as const)('keeps a pair for %s alone', async (usage) => {
    const single: Profile = { ...profile, usages: [usage] };
    expect(reason(await sign(single), { profile: single })).toBe('kept');
  });

  test('says the same of a pair that it has seen, but for time and for what is expected of it', async () => {
    const other = await sign(profile);
    const mixed = { certificate: pair.certificate, key: other.key };
    for (let round = 0; round < 2; round += 1) {
      expect(reason(pair)).toBe('kept');
      expect(reason(mixed)).toBe('KeyMismatch');
      expect(reason(pair, { ca: otherCa.certificate })).toBe('UntrustedIssuer');
      expect(reason(pair, { profile: { ...profile, commonName: 'other' } })).toBe('WrongSubject');
      expect(reason(pair, { profile: { ...profile, dnsNames: ['other'] } })).toBe('NamesMissing');
      expect(reason(pair, { keyTypes: ['rsa'] })).toBe('Malformed');
      expect(reason(pair, { thresholdMs: certificateValidityMs })).toBe('NearExpiry');
      expect(reason(pair, { now: new Date(now.getTime() + 2 * certificateValidityMs) })).toBe('Expired');
      expect(reason(pair, { now: new Date(now.getTime() - 2 * certificateValidityMs) })).toBe('NotYetValid');
    }
  });

  test('keeps a CA without checking who signed it', () => {
    expect(evaluate(ca, { profile: authorityProfiles.ca, now, thresholdMs: day })).toEqual({ keep: true });
  });

  test('keeps a pair of an unknown profile by its validity and issuer alone', () => {
    expect(evaluate(pair, { now, thresholdMs: day, ca: ca.certificate })).toEqual({ keep: true });
  });

  test('keeps a pair whose certificate has more names than required', () => {
    expect(reason(pair, { profile: { ...profile, dnsNames: [], ipAddresses: ['fd00:0::0007'] } })).toBe('kept');
  });

  test.each([
    ['nothing', undefined],
    ['no key', { certificate: 'x' }],
    ['no certificate', { key: 'x' }],
  ])('reports missing: %s', (_, given) => {
    expect(reason(given)).toBe('Missing');
  });

  test('reports text that is no certificate or no key as malformed, without repeating it', () => {
    const verdict = evaluate({ certificate: pair.certificate, key: 'hunter2' }, expectation());
    expect(verdict).toMatchObject({ keep: false, reason: 'Malformed' });
    expect(JSON.stringify(verdict)).not.toContain('hunter2');
    expect(reason({ certificate: 'hunter2', key: pair.key })).toBe('Malformed');
    const broken = '-----BEGIN CERTIFICATE-----\naGk=\n-----END CERTIFICATE-----\n';
    expect(reason({ certificate: broken, key: pair.key })).toBe('Malformed');
  });

  test('reports a key of another certificate', () => {
    expect(reason({ certificate: pair.certificate, key: ca.key })).toBe('KeyMismatch');
  });

  test('checks validity at the given time, the threshold included', () => {
    const end = now.getTime() + certificateValidityMs;
    expect(reason(pair, { now: new Date(end - day - 1000) })).toBe('kept');
    expect(reason(pair, { now: new Date(end - day) })).toBe('NearExpiry');
    expect(reason(pair, { now: new Date(end) })).toBe('Expired');
    expect(reason(pair, { now: new Date(now.getTime() - 6 * 60_000) })).toBe('NotYetValid');
  });

  test('distrusts the certificate of another CA, even one of the same name', () => {
    expect(reason(pair, { ca: otherCa.certificate })).toBe('UntrustedIssuer');
  });

  test('distrusts a certificate that names the CA and its key, but was not signed by it', () => {
    const forged = Buffer.from(pair.certificate.replaceAll(/-----[A-Z ]+-----/g, ''), 'base64');
    // The signature is last.
    const last = forged.length - 1;
    forged.writeUInt8(forged.readUInt8(last) ^ 1, last);
    const certificate = new X509Certificate(forged);
    expect(certificate.checkIssued(new X509Certificate(ca.certificate))).toBe(true);
    expect(reason({ certificate: certificate.toString(), key: pair.key })).toBe('UntrustedIssuer');
  });

  test('distrusts a certificate of the second CA of a bundle', () => {
    expect(reason(pair, { ca: ca.certificate + otherCa.certificate })).toBe('kept');
    expect(reason(pair, { ca: otherCa.certificate + ca.certificate })).toBe('UntrustedIssuer');
  });

  test.each<[string, Partial<Profile>, string]>([
    ['another common name', { commonName: 'other' }, 'WrongSubject'],
    ['another group', { organizations: ['a'] }, 'WrongSubject'],
    ['a further group', { organizations: ['a', 'b', 'c'] }, 'WrongSubject'],
    ['another usage', { usages: ['clientAuth'] }, 'WrongUsages'],
    ['a name that is missing', { dnsNames: ['kubernetes', 'new.example.org'] }, 'NamesMissing'],
    ['an address that is missing', { ipAddresses: ['192.0.2.8'] }, 'NamesMissing'],
    ['an authority', { ca: true }, 'NotAnAuthority'],
  ])('renews if the profile requires %s', (_, change, expected) => {
    expect(reason(pair, { profile: { ...profile, ...change } })).toBe(expected);
  });

  test('names the subject that the certificate should have, with its groups if there are any', () => {
    const verdict = (change: Partial<Profile>) => evaluate(pair, expectation({ profile: { ...profile, ...change } }));
    expect(verdict({ organizations: ['c', 'a'] })).toMatchObject({
      message: expect.stringMatching(/CN=kube-apiserver, O=a, c$/),
    });
    expect(verdict({ commonName: 'other', organizations: [] })).toMatchObject({
      message: expect.stringMatching(/CN=other$/),
    });
  });

  test('does not accept a CA as a serving or client certificate', () => {
    expect(reason(ca, { profile: { commonName: 'kubernetes', usages: [] } })).toBe('WrongUsages');
  });

  test('describes what is missing', () => {
    const verdict = evaluate(
      pair,
      expectation({ profile: { ...profile, dnsNames: ['a.test', 'kubernetes', 'b.test'] } }),
    );
    expect(verdict).toEqual({
      keep: false,
      reason: 'NamesMissing',
      message: 'the certificate does not name a.test, b.test',
    });
  });

  test('refuses an expectation whose own CA is broken', () => {
    expect(() => evaluate(pair, expectation({ ca: 'nonsense' }))).toThrow('ca.crt holds no certificate in PEM form');
  });
});

describe('judgeServiceAccountKeys', () => {
  test('keeps a pair, also if the public half is PKCS#1', async () => {
    const keys = await issueServiceAccountKeys('RSA-2048');
    expect(evaluateServiceAccountKeys(keys)).toEqual({ keep: true });
    const publicKey = createPublicKey(createPrivateKey(keys.privateKey))
      .export({ type: 'pkcs1', format: 'pem' })
      .toString();
    expect(evaluateServiceAccountKeys({ ...keys, publicKey })).toEqual({ keep: true });
  });

  test('reports missing, broken and unrelated keys', async () => {
    const [a, b] = [await issueServiceAccountKeys(algorithm), await issueServiceAccountKeys(algorithm)];
    expect(evaluateServiceAccountKeys(undefined)).toMatchObject({ reason: 'Missing' });
    expect(evaluateServiceAccountKeys({ ...a, publicKey: 'x' })).toMatchObject({ reason: 'Malformed' });
    expect(evaluateServiceAccountKeys({ ...a, publicKey: b.publicKey })).toMatchObject({ reason: 'KeyMismatch' });
  });
});
