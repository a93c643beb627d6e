import { expect, test } from '@jest/globals';

import { oneMorePresentation } from './one-more-report.ts';
import type { OneMoreRow } from './one-more-report.ts';

const row = (contender: string, running: number, readyMs: readonly number[]): OneMoreRow => ({
  contender,
  running,
  readyMs,
  busyBefore: readyMs.map(() => (running === 0 ? 0.1 : 0.4)),
  ...(running === 0 ? {} : { perTenantMiB: 431.4 }),
});
const rows = [
  row('Steward', 0, [4000, 5000, 6000]),
  row('own pods by hand', 0, [4000, 4000, 4000]),
  row('Steward', 30, [6000, 7000, 9000]),
  row('own pods by hand', 30, [5000, 5600, 8000]),
];

test('One more tenant is reported beside none and beside many, with how busy the processors were', () => {
  const report = oneMorePresentation.report(rows).replaceAll(/ +/g, ' ');
  expect(report).toContain('| Steward | 0 | 4.00 | 5.00 | 6.00 | 10 |');
  expect(report).toContain('| Steward | 30 | 6.00 | 7.00 | 9.00 | 40 |');
  expect(report).toContain('took 431 MiB');
});

test('One more tenant is summed up against the same by hand beside as many', () => {
  expect(oneMorePresentation.headlines?.(rows)).toEqual([
    {
      figure: 'One more control plane is Ready while 30 run, s',
      value: '7.00 (9.00)',
      floor: '5.60 (8.00)',
      times: '1.25',
    },
    { figure: 'Memory of a tenant with one replica, MiB, of 30', value: '431' },
  ]);
});
