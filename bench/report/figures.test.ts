import { describe, expect, test } from '@jest/globals';

import { benchmarksPage } from './benchmarks-page.ts';
import { datastoreFigures } from './datastore-figures.ts';
import { withFigures } from './figures.ts';
import { headlineFigures } from './headline-figures.ts';
import { measuredOn } from './measured-on.ts';
import type { Presentation } from './presentation.ts';
import { readyPresentation } from '../ready/ready-report.ts';
import { readyRows } from '../ready/ready-rows.ts';
import type { ReadySeries } from '../ready/ready.ts';

const measured = {
  bench: 'ready',
  commit: 'abc1234',
  date: '2026-11-24T02:00:00Z',
  command: 'npm run bench -- ready',
  machine: { cores: 2, memoryGiB: 24, kernel: '6.18' },
};

const series = (contender: string, replicas: number, readyMs: readonly number[]): ReadySeries => ({
  contender,
  ready: 'all replicas ready',
  replicas,
  busyBefore: [],
  timelines: readyMs.map((ms) => ({ 'Service answers /readyz': ms - 100.4, 'all replicas ready': ms })),
});

describe('The figures of README', () => {
  const rows = readyRows([
    series('Steward', 1, [4000, 5000, 6000]),
    series('own pods by hand', 1, [4000]),
    series('bare pods by hand', 1, [2500]),
    series('Steward', 2, [7000]),
  ]);

  test('come from results with raw samples', () => {
    expect(rows[0]).toMatchObject({ rounds: 3, readyzMs: { p50: 4900, max: 5900 }, readyMs: { p50: 5000, max: 6000 } });
    expect(rows[0]?.timelines).toHaveLength(3);
  });

  test('have a line for each, with the median, the worst case, the floor, the ratio, the commit and the day', () => {
    const table = headlineFigures([{ presentation: readyPresentation, result: { ...measured, rows } }]);
    const end = 'abc1234, 2026-11-24 |';
    expect(table).toContain(`with one replica is Ready, s | 5.00 (6.00) | 4.00 (4.00) | 1.25 | ${end}`);
    expect(table).toContain(`with 2 replicas is Ready, s | 7.00 (7.00) |  |  | ${end}`);
    expect(table).toContain('2 cores and 24 GiB');
  });
});

test('The page of benchmarks has the report of each, with commit, day, command and machine', () => {
  const presentation: Presentation = { name: 'ready', title: 'How long', report: (rows) => `${rows.length} rows` };
  const page = benchmarksPage([{ presentation, result: { ...measured, rows: [1, 2] } }]);
  expect(page).toContain(
    '\n## How long\n\n2 rows\n\nMeasured at commit abc1234 on 2026-11-24 with `npm run bench -- ready`',
  );
  expect(page).toContain('2 cores, 24 GiB, kernel 6.18. Result: [ready.json](../../bench/results/ready.json).');
});

test('The figures of datastores have a line for each row, and the note of the result', () => {
  const row = { figure: 'the datastore, empty', unit: 'MiB', etcd: '18', postgres: '58', mysql: '112', nats: '16' };
  const page = datastoreFigures({ ...measured, note: 'No samples.', rows: [row] });
  expect(page).toContain('| the datastore, empty, MiB | 18 | 58 | 112 | 16 |');
  expect(page).toMatch(/No samples\.$/);
});

test('A result that nothing in this repository measures names no command', () => {
  expect(measuredOn({ ...measured, command: '', rows: [] })).toContain('on 2026-11-24 on a virtual machine: 2 cores');
});

test('A page gets its figures between its markers, and one without markers is refused', () => {
  const page = 'a\n<!-- figures: begin; by hand -->\nold\n<!-- figures: end -->\nb\n';
  expect(withFigures(page, '$1 new')).toBe(page.replace('old', () => '$1 new'));
  expect(() => withFigures('a\n', 'new')).toThrow(/no markers/);
});

test('A page with several figures gets those that are named', () => {
  const one = '<!-- figures: begin -->\nold\n<!-- figures: end -->\n';
  const page = `${one}<!-- figures of stores: begin; by hand -->\nold\n<!-- figures of stores: end -->\n`;
  expect(withFigures(page, 'new', 'stores')).toBe(page.replace(/old\n(?=<!-- figures of)/, 'new\n'));
  expect(() => withFigures(one, 'new', 'stores')).toThrow(/no markers <!-- figures of stores: begin/);
});
