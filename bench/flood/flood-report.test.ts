import { describe, expect, test } from '@jest/globals';

import { floodPresentation, isHarmful } from './flood-report.ts';
import type { FloodRow, HostileCounts, QuotaCounts } from './flood-rows.ts';

const row = (changes: Partial<FloodRow> = {}): FloodRow => ({
  ...{ store: 'etcd', attack: 'alone', seconds: 30, writesMs: [5, 7, 9], readsMs: [2, 3, 4], failed: [], alarms: [] },
  ...{ fileMiB: 20, load: 1 },
  ...changes,
});

const flooded = (quota: Partial<QuotaCounts> = {}, changes: Partial<HostileCounts> = {}): FloodRow =>
  row({
    attack: 'config maps',
    seconds: 45.2,
    writesMs: [10, 20, 200],
    mostFiles: 310,
    mostMemoryMiB: 96,
    hostile: {
      ...{ accepted: 2500, denied: 9000, failures: 0, cpuPercent: 60, isReady: true },
      quota: {
        ...{ deniedAfterMs: 4200, deleted: 2500, undeleted: 0, writesAgainAfterMs: 3100, isWithinQuota: true },
        ...quota,
      },
      ...changes,
    },
  });

/** The same without one field. */
const without = <T extends object>(object: T, field: keyof T): T =>
  Object.fromEntries(Object.entries(object).filter(([name]) => name !== field)) as T;

/** A flood of which something of the quota is not known. */
function floodedWithout(field: keyof QuotaCounts, changes: Partial<HostileCounts> = {}): FloodRow {
  const { hostile } = flooded({}, changes);
  if (hostile?.quota === undefined) throw new Error('It has a quota.');
  return { ...flooded(), hostile: { ...hostile, quota: without(hostile.quota, field) } };
}

const handshakes = row({
  attack: 'handshakes',
  hostile: { accepted: 400, denied: 0, failures: 0, cpuPercent: 2, isReady: true },
});

describe('A hostile tenant', () => {
  test('does no harm if its neighbor is served in time and its quota acts in time', () => {
    expect([row(), flooded(), handshakes].filter(isHarmful)).toEqual([]);
  });

  test.each([
    ['its neighbor waits too long to write', row({ writesMs: [1000] })],
    ['its neighbor waits too long to read', row({ readsMs: [1000] })],
    ['its neighbor is not answered at all', row({ writesMs: [] })],
    ['a call of its neighbor fails', row({ failed: ['3.0 s: write: 500'] })],
    ['etcd raises an alarm', row({ alarms: ['memberID:1 alarm:NOSPACE'] })],
    ['it is denied too late', flooded({ deniedAfterMs: 10_001 })],
    ['it may not delete', flooded({ undeleted: 1 })],
    ['it has deleted nothing', flooded({ deleted: 0 })],
    ['the condition stays', flooded({ isWithinQuota: false })],
    ['its control plane is not Ready in the end', flooded({}, { isReady: false })],
  ])('does harm if %s', (_, harmful) => {
    expect(isHarmful(harmful)).toBe(true);
  });

  test.each(['deniedAfterMs', 'writesAgainAfterMs'] as const)('does harm without %s', (absent) => {
    expect(isHarmful(floodedWithout(absent))).toBe(true);
  });
});

describe('The report of a hostile tenant', () => {
  test('has a line for each attack, and the alarms of etcd', () => {
    const text = floodPresentation.report([row(), flooded(), handshakes]).replaceAll(/ +/g, ' ');
    expect(text).toContain('| etcd | alone | 30 | 7 | 9 | 9 | 3 | 4 | 4 | 0 | | | | | | | 20 | | | yes |');
    expect(text).toContain(
      '| etcd | config maps | 45 | 20 | 196 | 200 | 3 | 4 | 4 | 0 | 2500 | 9000 | 4.2 | 2500 of 2500 | 3.1 | 60 | 20 | 310 | 96 | yes |',
    );
    expect(text).toContain('\nAlarms of etcd: none.');
  });

  test('says what was never denied, and why calls failed', () => {
    const text = floodPresentation.report([
      row({ failed: ['3.0 s: write: 500'] }),
      floodedWithout('deniedAfterMs', { failures: 2, failure: '500 full' }),
    ]);
    expect(text).toContain('| never ');
    expect(text).toContain('- etcd, config maps: 2 calls of the hostile tenant failed, the first: 500 full');
    expect(text).toContain('- etcd, alone: 1 calls of the neighbor failed, the first: 3.0 s: write: 500');
  });

  test('says nothing of alarms where there is no etcd', () => {
    expect(floodPresentation.report([without(row({ store: 'nats' }), 'alarms')])).not.toContain('Alarms');
  });

  test('is summed up by failed calls, the slowest writes against those without it, and the latest denial', () => {
    expect(floodPresentation.headlines?.([row(), flooded(), flooded({ deniedAfterMs: 100 })])).toEqual([
      { figure: 'Failed calls of 18 beside a hostile tenant in the same DataStore', value: '0' },
      {
        figure: 'Writes beside a hostile tenant, worst 99th percentile of all datastores and attacks, ms',
        value: '196',
        floor: '9',
      },
      { figure: 'Longest time until a quota denies what exceeds it, s', value: '4.2' },
    ]);
  });

  test('is not summed up without attacks', () => {
    expect(floodPresentation.headlines?.([row()])).toEqual([]);
  });
});
