import { describe, expect, test } from '@jest/globals';

import { datastoreFigures } from './datastore-figures.ts';
import { withFigures } from './figures.ts';
import { readyFigures } from './ready-figures.ts';
import { readyRows } from '../ready/ready-rows.ts';
import type { ReadySeries } from '../ready/ready.ts';

const measured = {
  bench: 'ready',
  commit: 'abc1234',
  date: '2026-11-24T02:00:00Z',
  command: 'npm run bench -- ready',
  machine: { cores: 2, kernel: '6.18' },
};

const series = (contender: string, replicas: number, readyMs: readonly number[]): ReadySeries => ({
  contender,
  ready: 'all replicas ready',
  replicas,
  timelines: readyMs.map((ms) => ({ 'Service answers /readyz': ms - 100.4, 'all replicas ready': ms })),
});

describe('The figures of readiness', () => {
  const rows = readyRows([
    series('Steward', 1, [4000, 5000, 6000]),
    series('own pods by hand', 1, [4000]),
    series('bare pods by hand', 1, [2500]),
    series('Steward', 2, [7000]),
  ]);

  test('keep the raw samples in the result', () => {
    expect(rows[0]).toMatchObject({ rounds: 3, readyzMs: { p50: 4900, max: 5900 }, readyMs: { p50: 5000, max: 6000 } });
    expect(rows[0]?.timelines).toHaveLength(3);
  });

  test('contain the median and the worst case, and the ratio to each floor', () => {
    const page = readyFigures({ ...measured, rows });
    expect(page).toContain(
      '| until | Steward, p50 (max) | own pods by hand | bare pods by hand | Steward / own | Steward / bare |',
    );
    expect(page).toContain('included | 5.00 (6.00) | 4.00 (4.00) | 2.50 (2.50) | 1.25 | 2.00 |');
    expect(page).toContain('With two replicas, Ready is reported after 7.00 (7.00) s.');
  });

  test('contain commit, day, command and machine', () => {
    expect(readyFigures({ ...measured, rows })).toContain(
      'Measured at commit abc1234 on 2026-11-24 with `npm run bench -- ready` on a virtual machine: 2 cores, kernel 6.18.',
    );
  });
});

test('The figures of datastores have a line for each row, and the note of the result', () => {
  const row = { figure: 'the datastore, empty', unit: 'MiB', etcd: '18', postgres: '58', mysql: '112', nats: '16' };
  const page = datastoreFigures({ ...measured, note: 'No samples.', rows: [row] });
  expect(page).toContain('| the datastore, empty, MiB | 18 | 58 | 112 | 16 |');
  expect(page).toMatch(/No samples\.$/);
});

test('A page gets its figures between its markers, and one without markers is refused', () => {
  const page = 'a\n<!-- figures: begin; by hand -->\nold\n<!-- figures: end -->\nb\n';
  expect(withFigures(page, '$1 new')).toBe(page.replace('old', () => '$1 new'));
  expect(() => withFigures('a\n', 'new')).toThrow(/no markers/);
});
