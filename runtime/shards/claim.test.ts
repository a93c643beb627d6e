import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { claims, claimText, noClaim, readClaim } from './claim.ts';
import { rendezvous } from './rendezvous.ts';

const members = fc.uniqueArray(fc.string(), { maxLength: 5 });

test('a claim survives being written and read', () => {
  fc.assert(
    fc.property(members, fc.array(fc.string()), (view, held) => {
      expect(readClaim(claimText({ members: view, held }))).toEqual({ members: view, held });
    }),
  );
});

test('a member claims the keys that are its own among the members it names, and those that it holds', () => {
  fc.assert(
    fc.property(members, fc.array(fc.string()), fc.string(), (view, held, key) => {
      for (const member of view) {
        expect(claims(member, { members: view, held }, key)).toBe(
          rendezvous(key, view) === member || held.includes(key),
        );
      }
    }),
  );
});

test('one who has just begun claims nothing', () => {
  expect(claims('a', noClaim, 'tenants/shop')).toBe(false);
});

test.each([
  ['nothing', undefined],
  ['no JSON', '{'],
  ['null', 'null'],
  ['another way to compute owners', '{"algorithm":"md5","members":["a"],"held":[]}'],
  ['members that are no list', '{"algorithm":"sha256-48","members":"a","held":[]}'],
  ['held keys that are no texts', '{"algorithm":"sha256-48","members":[],"held":[1]}'],
])('a member that says %s may be working on everything', (_, text) => {
  expect(readClaim(text)).toBe('everything');
  expect(claims('a', readClaim(text), 'tenants/shop')).toBe(true);
});
