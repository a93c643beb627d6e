import { expect, test } from '@jest/globals';
import fc from 'fast-check';

import { withoutMiddle } from './without-middle.ts';

test('A text that is too long keeps its beginning and its end', () => {
  expect(withoutMiddle('pull of a: failed: no such host', 17)).toBe('pull of … ch host');
  expect(withoutMiddle('short', 5)).toBe('short');
});

test('A text never gets longer than allowed', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), fc.integer({ min: 5, max: 150 }), (text, most) => {
      const cut = withoutMiddle(text, most);
      expect(cut).toHaveLength(Math.min(text.length, most));
      expect(cut.at(-1)).toBe(text.at(-1));
    }),
  );
});
