import { expect, test } from '@jest/globals';
import type { Mutant } from './mutant.ts';
import { mutantsOf } from './mutants-of.ts';
import { rateOf, reportPage, rowsOf } from './report.ts';
import type { Judged } from './report.ts';

const [first, second, third] = mutantsOf('runtime/x.ts', 'export const f = (a) => a < 3 || a > 5;') as [
  Mutant,
  Mutant,
  Mutant,
];
const judged: readonly Judged[] = [
  { mutant: first, verdict: { killed: true, by: 'runtime/x.test.ts: sees it' }, tier: 'room' },
  { mutant: second, verdict: { killed: false, by: '2 files pass' } },
  { mutant: third, verdict: { killed: true, by: 'y.contract.test.ts: sees it' }, tier: 'contract' },
];
const page = (explanations: Readonly<Record<string, string>>): string =>
  reportPage(judged, explanations, { commit: 'abc1234', date: '2026-01-02' });

test('rooms and their sum are counted, and rates are not rounded up', () => {
  const rows = rowsOf(judged);
  expect(rows.map(({ room, judged: all, killed, byContract }) => [room, all, killed, byContract])).toEqual([
    ['runtime', 3, 2, 1],
    ['all', 3, 2, 1],
  ]);
  expect(rows.map(rateOf)).toEqual([66, 66]);
});

test('each survivor is listed with its reason, or as one without', () => {
  expect(page({ [second.id]: 'both do the same' })).toContain('| both do the same |');
  expect(page({})).toContain('**not explained** (2 files pass)');
  expect(page({})).toContain('commit abc1234 on 2026-01-02');
  expect(page({})).not.toContain(first.id);
});
