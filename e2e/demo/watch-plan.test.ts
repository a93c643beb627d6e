import { expect, test } from '@jest/globals';

import { tenantInterval } from './watch-plan.ts';

test('100 tenants in two hours are one every 72 seconds', () => {
  expect(tenantInterval({ hours: 2, tenants: 100 })).toBe(72_000);
});

test.each([
  [{ hours: Number.NaN, tenants: 1 }, /--watch: a number of hours above 0/],
  [{ hours: 1, tenants: 1.5 }, /--tenants: a whole number/],
  [{ hours: 0.1, tenants: 100 }, /--tenants 100: in 0.1 h there is time for 36/],
])('a plan that is impossible is refused: %j', (plan, message) => {
  expect(() => tenantInterval(plan)).toThrow(message);
});
