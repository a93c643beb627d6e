import { expect, test } from '@jest/globals';

import { oddOnes } from './odd-ones.ts';

test('What one tenant has and most have not is doubled, and what they have and it has not is missing', () => {
  const usual = ['Secret <tenant>-ca', 'Service <tenant>'];
  const all = new Map([
    ['a', usual],
    ['b', usual.toReversed()],
    ['c', [...usual, 'Service <tenant>']],
    ['d', ['Service <tenant>', 'Secret <tenant>-old']],
  ]);
  expect(oddOnes(all)).toEqual({
    doubled: ['c: Service <tenant>', 'd: Secret <tenant>-old'],
    missing: ['d: Secret <tenant>-ca'],
  });
});

test('Nothing is odd where there is no tenant', () => {
  expect(oddOnes(new Map())).toEqual({ doubled: [], missing: [] });
});
