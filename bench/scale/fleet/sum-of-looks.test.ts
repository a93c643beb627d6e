import { expect, test } from '@jest/globals';

import { sumOfLooks } from './sum-of-looks.ts';

const look = {
  ...{ at: 10, rssMiB: 100, anonymousMiB: 50, heapMiB: 30, members: 2, lagP99Ms: 5, lagMaxMs: 80 },
  ...{ cpuSeconds: 3, reconciles: 7, busy: 1, managementRequests: { GET: 5 }, tenantCalls: {} },
};

test('What managers did and used is added; memory and lag are those of the worst', () => {
  const other = { ...look, at: 11, rssMiB: 120, lagMaxMs: 20, managementRequests: { GET: 1, APPLY: 2 } };
  expect(sumOfLooks([look, other])).toEqual({
    ...{ ...look, at: 11, rssMiB: 120, cpuSeconds: 6, reconciles: 14, busy: 2 },
    managementRequests: { GET: 6, APPLY: 2 },
  });
  expect(sumOfLooks([look])).toEqual(look);
});
