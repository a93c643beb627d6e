import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseCertificates } from './certificate-chain.ts';
import { issueCrossSigned, evaluateCrossSigned } from './cross-signed.ts';
import { issue, issueCa } from './issue.ts';
import type { KeyPair, Profile, Verdict } from './key-pair.ts';
import { caValidityMs, certificateValidityMs, lifetimeFrom } from './lifetime.ts';

const now = new Date('2026-03-01T12:00:00Z');
const day = 24 * 60 * 60 * 1000;
const profile: Profile = { commonName: 'tenant', usages: ['clientAuth'] };
const options = { algorithm: 'ECDSA-P256', lifetime: lifetimeFrom(now, certificateValidityMs) } as const;
const ca = (commonName: string, pathLength?: number): Promise<KeyPair> =>
  issueCa(
    { commonName, usages: [], pathLength },
    { algorithm: 'ECDSA-P256', lifetime: lifetimeFrom(now, caValidityMs) },
  );

function opensslVerifies(ca: string, leaf: string, between: string, purpose: string): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'cross-'));
  const at = String(now.getTime() / 1000 + 60);
  try {
    const write = (name: string, text: string): void => {
      writeFileSync(join(directory, name), text);
    };
    write('ca.crt', ca);
    write('leaf.crt', leaf);
    write('between.crt', between);
    const words = [
      '-x509_strict',
      '-purpose',
      purpose,
      '-attime',
      at,
      '-CAfile',
      'ca.crt',
      '-untrusted',
      'between.crt',
    ];
    execFileSync('openssl', ['verify', ...words, 'leaf.crt'], { cwd: directory, stdio: 'pipe' });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/**
 * Whether some certificate of the chain leads to this CA alone, for this purpose. Each is tried separately, because OpenSSL
 * does not backtrack like Go; real servers are covered by another test.
 */
function accepts(authority: KeyPair, pair: KeyPair, purpose = 'sslclient'): boolean {
  const [leaf, ...between] = parseCertificates(pair.certificate, 'chain');
  return between.some((link) => opensslVerifies(authority.certificate, leaf.toString(), link.toString(), purpose));
}

const evaluated = (pair: KeyPair, cas: readonly KeyPair[], at = now, wanted = profile): Verdict =>
  evaluateCrossSigned(pair, {
    profile: wanted,
    cas: cas.map(({ certificate }) => certificate),
    now: at,
    thresholdMs: 30 * day,
  });

describe('A cross-signed certificate', () => {
  test('is accepted by each of its CAs, by itself, and by no other', async () => {
    const [one, two, three, stranger] = await Promise.all([ca('one'), ca('two'), ca('three'), ca('stranger')]);
    const pair = await issueCrossSigned(profile, [one, two, three], options);
    expect([one, two, three, stranger].map((authority) => accepts(authority, pair))).toEqual([true, true, true, false]);
  });

  test('has the usages of its profile and no others, in every link', async () => {
    const [one, two] = await Promise.all([ca('one'), ca('two')]);
    const pair = await issueCrossSigned(profile, [one, two], options);
    expect(accepts(one, pair, 'sslserver')).toBe(false);
    const [leaf, ...between] = parseCertificates(pair.certificate, 'chain');
    expect(leaf.subject).toBe('CN=tenant');
    expect(leaf.ca).toBe(false);
    expect(between.map(({ keyUsage }) => keyUsage)).toEqual([['1.3.6.1.5.5.7.3.2'], ['1.3.6.1.5.5.7.3.2']]);
  });

  test('permits no further CAs below it', async () => {
    const pair = await issueCrossSigned(profile, await Promise.all([ca('one'), ca('two')]), options);
    const links = parseCertificates(pair.certificate, 'chain').slice(1);
    for (const link of links) {
      const printed = execFileSync('openssl', ['x509', '-noout', '-text'], { input: link.toString() }).toString();
      expect(printed).toContain('CA:TRUE, pathlen:0');
    }
  });

  test('is refused by a CA that may sign only certificates of servers and clients, and the message names that CA', async () => {
    const [one, narrow] = await Promise.all([ca('one'), ca('narrow', 0)]);
    await expect(issueCrossSigned(profile, [one, narrow], options)).rejects.toThrow(/CN=narrow.*path length is 0/);
  });
});

describe('judgeCrossSigned', () => {
  test('keeps a chain that leads to each CA and to no other', async () => {
    const [one, two, three] = await Promise.all([ca('one'), ca('two'), ca('two')]);
    const pair = await issueCrossSigned(profile, [one, two], options);
    expect(evaluated(pair, [one, two])).toEqual({ keep: true });
    expect(evaluated(pair, [two, one])).toEqual({ keep: true });
    for (const cas of [[one], [one, three], [one, two, three]]) {
      expect(evaluated(pair, cas)).toMatchObject({ keep: false, reason: 'UntrustedIssuer' });
    }
  });

  test('renews a chain that expires soon, is for other names, or does not use one key', async () => {
    const [one, two] = await Promise.all([ca('one'), ca('two')]);
    const pair = await issueCrossSigned(profile, [one, two], options);
    const soon = new Date(now.getTime() + 340 * day);
    expect(evaluated(pair, [one, two], soon)).toMatchObject({ keep: false, reason: 'NearExpiry' });
    const other = { ...profile, commonName: 'other' };
    expect(evaluated(pair, [one, two], now, other)).toMatchObject({ keep: false, reason: 'WrongSubject' });
    const plain = await issue(profile, one, options);
    expect(evaluated(plain, [one, two])).toMatchObject({ keep: false });
    const second = await issueCrossSigned(profile, [one, two], options);
    const [leaf, first] = parseCertificates(pair.certificate, 'chain');
    const last = parseCertificates(second.certificate, 'chain')[2] ?? new X509Certificate('');
    const mixed = { certificate: [leaf, first, last].join(''), key: pair.key };
    expect(evaluated(mixed, [one, two])).toMatchObject({ keep: false, reason: 'UntrustedIssuer' });
    expect(evaluated({ certificate: 'nonsense', key: 'nonsense' }, [one, two])).toMatchObject({ reason: 'Malformed' });
  });
});
