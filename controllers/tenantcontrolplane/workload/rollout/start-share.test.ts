import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { startShare } from './start-share.ts';

const names = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 8 });

test('managers together start as many control planes at once as one alone, and each at least one', () => {
  fc.assert(
    fc.property(names, fc.integer({ min: 1, max: 100 }), (members, limit) => {
      const shares = members.map((self) => startShare(limit, members, self));
      for (const share of shares) expect(share).toBeGreaterThanOrEqual(1);
      const all = shares.reduce((sum, one) => sum + one, 0);
      expect(all).toBe(Math.max(limit, members.length));
    }),
  );
});

test('without a limit, and before it is known who shares, there is no share', () => {
  expect(startShare(Infinity, ['a', 'b'], 'a')).toBe(Infinity);
  expect(startShare(4, [], 'a')).toBe(4);
});
