import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { alternativeNames, isDnsName, isWildcardName } from './san.ts';

describe('alternativeNames', () => {
  test('separates addresses from names and contains each once', () => {
    expect(
      alternativeNames(['a.example.org', '*.example.org', '192.0.2.7', 'fd00:0::7', 'fd00::7', 'a.example.org']),
    ).toEqual({
      dnsNames: ['a.example.org', '*.example.org'],
      ipAddresses: ['192.0.2.7', 'fd00::7'],
    });
  });

  test.each([
    '',
    'A.example.org',
    'a_b',
    '-a',
    'a-',
    'a..b',
    '.a',
    'a.',
    '*',
    '*.',
    'a.*.b',
    '*.*.a',
    '192.0.2.7:6443',
    'https://a',
    'a b',
    '192.0.2.7/24',
    'fe80::1%eth0',
  ])('refuses %j with its index and the fix', (bad) => {
    expect(() => alternativeNames(['ok', bad], 'networkProfile.certSANs')).toThrow(
      `networkProfile.certSANs[1] ${JSON.stringify(bad)} is neither an IP address nor a DNS name: use`,
    );
  });

  test('accepts every address and every domain', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.ipV4(),
          fc.ipV6(),
          fc.domain().map((domain) => domain.toLowerCase()),
        ),
        (name) => {
          const { dnsNames, ipAddresses } = alternativeNames([name]);
          expect(dnsNames.length + ipAddresses.length).toBe(1);
        },
      ),
    );
  });

  test('limits names to 253 characters', () => {
    const long = `${'a.'.repeat(126)}a`;
    expect(isDnsName(long)).toBe(true);
    expect(isDnsName(`${long}a`)).toBe(false);
    expect(isWildcardName(`*.${long}`)).toBe(false);
  });
});
