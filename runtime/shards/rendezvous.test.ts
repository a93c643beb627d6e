import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { rendezvous } from './rendezvous.ts';

const names = fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 8 });
const keys = fc.uniqueArray(fc.string(), { maxLength: 40 });
const many = Array.from({ length: 3000 }, (_, n) => `tenants/tenant-${n}`);

test('a key belongs to the same member, in whatever order the members are named', () => {
  fc.assert(
    fc.property(names, keys, (members, some) => {
      for (const key of some) {
        const owner = rendezvous(key, members);
        expect(members).toContain(owner);
        expect(rendezvous(key, members.toReversed())).toBe(owner);
      }
    }),
  );
});

test('when a member leaves, only its keys move; when one joins, keys move only to it', () => {
  fc.assert(
    fc.property(names, fc.uuid(), keys, (members, another, some) => {
      fc.pre(!members.includes(another));
      for (const key of some) {
        const [before, after] = [rendezvous(key, members), rendezvous(key, [...members, another])];
        expect([before, another]).toContain(after);
      }
    }),
  );
});

test.each([2, 3, 5, 8])('each of %d members gets nearly as many keys as the others', (count) => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.uuid(), { minLength: count, maxLength: count }), (members) => {
      const counts = Map.groupBy(many, (key) => rendezvous(key, members));
      const share = many.length / count;
      for (const member of members) {
        // Five standard deviations of a fair draw.
        const spread = 5 * Math.sqrt(share * (1 - 1 / count));
        expect(Math.abs((counts.get(member)?.length ?? 0) - share)).toBeLessThan(spread);
      }
    }),
    { numRuns: 10 },
  );
});

test('without members a key belongs to nobody', () => {
  expect(rendezvous('tenants/shop', [])).toBeUndefined();
});
