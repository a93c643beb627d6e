import { expect, test } from '@jest/globals';

import { annotations } from '../../api/names.ts';
import { certificateMetrics } from './certificate-metrics.ts';

const valuesOf = (carried: Readonly<Record<string, string>>): readonly number[] =>
  certificateMetrics
    .flatMap(({ samples }) =>
      samples({
        metadata: { name: 'shop-ca', namespace: 'team', uid: 'x', resourceVersion: '1', annotations: carried },
      }),
    )
    .map(({ value }) => value);

test('the expiry that Steward has written on a Secret is its value, in seconds', () => {
  expect(valuesOf({ [annotations.certificateExpiry]: '2030-01-01T00:00:00.000Z' })).toEqual([1_893_456_000]);
});

test.each<Readonly<Record<string, string>>>([
  {},
  { [annotations.certificateExpiry]: 'soon' },
  { [annotations.certificateExpiry]: '1' },
  { [annotations.certificateExpiry]: '2030-99-01T00:00:00.000Z' },
])('without a time it has none: %o', (carried) => {
  expect(valuesOf(carried)).toEqual([]);
});
