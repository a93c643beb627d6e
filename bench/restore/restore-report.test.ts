import { describe, expect, test } from '@jest/globals';

import { isBeyondBounds, restorePresentation } from './restore-report.ts';
import type { RestoreRow } from './restore-rows.ts';

const row: RestoreRow = {
  ...{ store: 'etcd', objects: 10_000, bytes: 104_000_000, load: 2 },
  history: { acknowledged: 6000, seconds: 60, perSecond: 99.8, failed: 0 },
  latest: {
    ...{ rpoMs: 4200, lost: 410, lostOlder: 0, completeMs: 9000, dataMs: 6100, firstWriteMs: 21_500 },
    ...{ compared: 10_060, differences: [] },
  },
  worker: { backMs: 30_000, isSame: true },
  chosen: {
    ...{
      moment: '2026-11-28T14:00:30.000Z',
      restoredTime: '2026-11-28T14:00:29.500Z',
      completeMs: 10_400,
      dataMs: 7000,
    },
    ...{ bytes: 104_000_000, missing: 0, early: 0, beforeMs: 0, compared: 10_050, differences: [] },
  },
};
const { latest, chosen } = row;

describe('A restore', () => {
  test('is within its bounds', () => {
    expect(isBeyondBounds(row)).toBe(false);
  });

  test.each<[string, Partial<RestoreRow>]>([
    ['more than ten seconds are lost', { latest: { ...latest, rpoMs: 10_001 } }],
    ['an older write is lost', { latest: { ...latest, lostOlder: 1 } }],
    ['it takes too long for its data', { latest: { ...latest, completeMs: 15_700 } }],
    ['there is no data', { bytes: 0 }],
    ['an object differs', { latest: { ...latest, differences: ['map-1: a → b'] } }],
    ['the worker does not come back', { worker: { isSame: true } }],
    ['what ran on the worker was started again', { worker: { backMs: 1, isSame: false } }],
    ['a write before the chosen second is missing', { chosen: { ...chosen, missing: 1 } }],
    ['a write after the chosen second is there', { chosen: { ...chosen, early: 1 } }],
    ['an object differs from the chosen second', { chosen: { ...chosen, differences: ['a'] } }],
    ['the datastore could not be measured', { problem: 'no room' }],
  ])('is beyond them if %s', (_, changes) => {
    expect(isBeyondBounds({ ...row, ...changes })).toBe(true);
  });

  test('is reported with what was lost and how long it took for its data', () => {
    const report = restorePresentation.report([row]).replaceAll(/ +/g, ' ');
    expect(report).toContain(
      '| etcd | 10000 | 104.0 | 6000 | 100 | 4.2 | 410 | 0 | 9.0 | 6.1 | 8.7 | 21.5 | 30.0 | 10060 | 0 | yes |',
    );
    expect(report).toContain(
      '| etcd | 2026-11-28T14:00:30.000Z | 10.4 | 7.0 | 10.0 | 0.000 | 0 | 0 | 10050 | 0 | yes |',
    );
  });

  test('is reported with its first difference, and why a datastore was not measured', () => {
    const different = { ...row, latest: { ...latest, differences: ['map-1: a → b', 'map-2'] } };
    const report = restorePresentation.report([different, { ...row, store: 'nats', problem: 'no room' }]);
    expect(report).toContain('\n- etcd: map-1: a → b\n- nats was not measured: no room');
    expect(report).not.toContain('| nats');
  });

  test('is summed up by the worst datastore', () => {
    const slower: RestoreRow = { ...row, store: 'mysql', latest: { ...latest, completeMs: 13_000, rpoMs: 3000 } };
    const unmeasured: RestoreRow = { ...row, problem: 'no room', latest: { ...latest, rpoMs: 99_000 } };
    const values = (restorePresentation.headlines?.([row, slower, unmeasured]) ?? []).map(({ value }) => value);
    expect(values).toEqual(['4.2', '12.5']);
    expect(restorePresentation.headlines?.([unmeasured])).toEqual([]);
  });
});
