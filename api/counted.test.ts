import { expect, test } from '@jest/globals';

import { counted, timesText } from './counted.ts';

test('One is counted in the singular, and everything else in the plural', () => {
  expect([0, 1, 2].map((count) => counted(count, 'pod'))).toEqual(['0 pods', '1 pod', '2 pods']);
  expect([0, 1, 2].map(timesText)).toEqual(['0 times', 'once', '2 times']);
});
