import { expect, test } from '@jest/globals';
import { chaosPage } from './chaos-page.ts';
import { playLine, totalLine } from './play-result.ts';
import type { PlayResult } from './play-result.ts';

const result: PlayResult = {
  ...{ name: 'upgrade', about: 'a tenant is upgraded', seed: 5, calls: 68, breaches: 2 },
  faults: {
    kill: { injected: 68, converged: 67, leftOver: 3, lost: 0 },
    cut: { injected: 60, converged: 60, leftOver: 0, lost: 1 },
  },
};

test('a run prints calls, faults, what was left over and what was lost', () => {
  expect(playLine(result)).toBe(
    'chaos upgrade: 68 calls, 128 faults, 127 converged, left over or doubled (3), operations lost (1), seed 5',
  );
  expect(totalLine([result, { ...result, breaches: 0 }], 41.2)).toBe(
    'chaos: 256 attempts, breaches (2); 2 operations, 254 converged, left over or doubled (6), operations lost (2); 41 s of CPU',
  );
});

test('the page of a run has a row for each operation and for each fault', () => {
  const kill = { name: 'kill', about: 'the process is killed' };
  const all = { faults: [kill], plays: ['upgrade', 'drain'] };
  const page = chaosPage({ operations: [{ ...result, commit: 'abc', date: '2026-01-02' }] }, all);
  expect(page).toContain('Every fault at every call: 128 runs, breaches (2).');
  expect(page).toContain('| `upgrade` | a tenant is upgraded | 68 | 128 | 127 | 3 | 1 | 5 | abc, 2026-01-02 |');
  expect(page).toContain('No whole run has been recorded yet of drain');
  expect(page).toContain('| `kill` | the process is killed | 68 |');
});
