import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { longestTenancyName, tenancyIdentifier, tenancyNameProblem, tenancyNames } from './tenancy-names.ts';

describe('tenancyIdentifier', () => {
  test('gives different owners different identifiers of one length, so that none is a prefix of another', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.uuid(), { minLength: 2, maxLength: 40 }), (uids) => {
        const names = uids.map(tenancyIdentifier);
        expect(new Set(names).size).toBe(uids.length);
        expect(new Set(names.map((name) => name.length))).toEqual(new Set([27]));
      }),
    );
  });

  test('differs for UIDs that differ in one bit', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), fc.nat({ max: 127 }), (bytes, bit) => {
        const other = Uint8Array.from(bytes);
        other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(tenancyIdentifier(format(bytes))).not.toBe(tenancyIdentifier(format(other)));
      }),
    );
  });

  test('is a plain word in every datastore and fits the shortest limit', () => {
    fc.assert(
      fc.property(fc.oneof(fc.uuid(), fc.string()), (uid) => {
        const name = tenancyIdentifier(uid);
        expect(name).toMatch(/^[tu][a-z2-7]{26}$/);
        expect(name.length).toBeLessThanOrEqual(longestTenancyName);
        expect(tenancyNameProblem(name)).toBeUndefined();
      }),
    );
  });

  test('is the same for the same UID in either case of letters', () => {
    fc.assert(
      fc.property(fc.uuid(), (uid) => {
        expect(tenancyIdentifier(uid.toUpperCase())).toBe(tenancyIdentifier(uid));
      }),
    );
  });

  test('distinguishes UIDs that are not UUIDs from those that are', () => {
    expect(tenancyIdentifier('uid-1')).toMatch(/^u/);
    expect(tenancyIdentifier('00000000-0000-0000-0000-000000000000')).toBe('taaaaaaaaaaaaaaaaaaaaaaaaaa');
  });
});

describe('tenancyNames', () => {
  const uid = '6f1c1a52-5a51-4a0e-9f43-3a1c5e0b7a11';

  test('come from the UID, never from namespace and name', () => {
    expect(tenancyNames({ uid })).toEqual({ schema: tenancyIdentifier(uid), user: tenancyIdentifier(uid) });
  });

  test('use the names in the spec, and with priority those recorded in the status', () => {
    const requested = { schema: 'mine', user: 'me' };
    expect(tenancyNames({ uid, requested })).toEqual(requested);
    expect(tenancyNames({ uid, requested, recorded: { schema: 'a_b', user: '' } })).toEqual({
      schema: 'a_b',
      user: 'me',
    });
  });
});

describe('tenancyNameProblem', () => {
  test.each(['', '1a', 'a/b', 'a b', 'a%', 'a`', "a'", 'a;b', 'a\0', 'ä', 'root', 'a'.repeat(33), 'a.b', '-a', '*'])(
    'refuses %j',
    (name) => {
      expect(tenancyNameProblem(name)).toBeDefined();
    },
  );

  test.each(['a', 'team_one', 'Team-1', 'a'.repeat(32)])('accepts %j', (name) => {
    expect(tenancyNameProblem(name)).toBeUndefined();
  });
});

function format(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
