import { describe, expect, test } from '@jest/globals';

import { burstPresentation, hasLeftovers } from './burst-report.ts';
import type { BurstRow } from './burst-report.ts';

const nothing = { keys: 0, users: 0, roles: 0 };
const ours: BurstRow = {
  contender: 'Steward',
  tenants: 4,
  round: 1,
  readyMs: [6000, 8000, 10_000, 12_000],
  goneMs: 4000,
  podsGoneMs: 9000,
  left: nothing,
};
const hand: BurstRow = {
  contender: 'own pods by hand',
  tenants: 4,
  round: 1,
  readyMs: [9000, 9000, 10_000, 10_000],
  goneMs: 1000,
  podsGoneMs: 12_000,
};

const plain = (text: string): string => text.replaceAll(/ +/g, ' ');

describe('The report of a burst', () => {
  test('has the first, the median and the last of each round, and what the deletion left', () => {
    const report = plain(burstPresentation.report([ours, hand]));
    expect(report).toContain('| 4 | Steward | 1 | 6.0 | 9.0 | 12.0 | 0.75 | 4.0 | 9.0 | nothing |');
    expect(report).toContain('| 4 | own pods by hand | 1 | 9.0 | 9.5 | 10.0 | 0.95 | 1.0 | 12.0 | |');
    expect(plain(burstPresentation.report([{ ...ours, left: { ...nothing, keys: 3 } }]))).toContain('3 keys, 0 users');
  });

  test('is summed up over the rounds, against the same pods by hand', () => {
    const lines = burstPresentation.headlines?.([ours, hand, { ...ours, round: 2, readyMs: [8000, 14_000] }]) ?? [];
    expect(lines[0]).toEqual({
      figure: '4 tenants at once: the first is Ready, s',
      value: '7.0 (8.0)',
      floor: '9.0 (9.0)',
      times: '0.78',
    });
    expect(lines.at(-1)).toMatchObject({ value: '9.0 (9.0)', floor: '12.0 (12.0)', times: '0.75' });
  });

  test('keeps bursts of different sizes apart', () => {
    const lines = burstPresentation.headlines?.([ours, hand, { ...ours, tenants: 40 }]) ?? [];
    expect(lines.map(({ figure }) => figure).filter((figure) => figure.includes('the first'))).toEqual([
      '4 tenants at once: the first is Ready, s',
      '40 tenants at once: the first is Ready, s',
    ]);
    expect(lines.at(-1)).toMatchObject({ value: '9.0 (9.0)', floor: '', times: '' });
  });

  test('has no floor for the removal of data, which is not done by hand', () => {
    const gone = burstPresentation.headlines?.([ours, hand]).find(({ figure }) => figure.includes('data included'));
    expect(gone).toEqual({ figure: '`kubectl delete` of 4 tenants, their data included, s', value: '4.0 (4.0)' });
  });
});

test('A burst that leaves a key, a user or a role in the datastore breaks a bound', () => {
  expect(hasLeftovers(ours)).toBe(false);
  expect(hasLeftovers(hand)).toBe(false);
  for (const kind of ['keys', 'users', 'roles'])
    expect(hasLeftovers({ ...ours, left: { ...nothing, [kind]: 1 } })).toBe(true);
});
