import { describe, expect, test } from '@jest/globals';

import { autoscalingPresentation, isMissed } from './autoscaling-report.ts';
import type { AutoscalingRow } from './measure-autoscaling.ts';

const row = (changes: Partial<AutoscalingRow>): AutoscalingRow => ({
  callsPerSecond: 10,
  seconds: 60,
  calls: 600,
  failed: [],
  lost: [],
  staleReads: 0,
  slowestCallMs: 90,
  longestPauseMs: 500,
  slowestFloorMs: 80,
  podsBefore: 1,
  podsMost: 1,
  podsAfter: 1,
  counts: [],
  ...changes,
});

const rare = row({ counts: [{ seconds: 0, wanted: 1, ready: 1, cpuPercent: 20 }] });
const often = row({
  callsPerSecond: 300,
  podsMost: 3,
  podsAfter: 3,
  counts: [
    { seconds: 62, wanted: 1, ready: 1, cpuPercent: 20 },
    { seconds: 90, wanted: 3, ready: 1 },
    { seconds: 92, wanted: 3, ready: 1 },
    { seconds: 100, wanted: 3, ready: 3, cpuPercent: 70 },
  ],
});
const rareAgain = row({ podsBefore: 3, podsMost: 3 });

describe('An autoscaled control plane', () => {
  test('followed its load if it was scaled up and down again and no client was affected', () => {
    expect(isMissed([rare, often, rareAgain])).toBe(false);
  });

  test.each([
    ['nothing was measured', []],
    ['a call failed', [rare, { ...often, failed: ['5 s: refused'] }, rareAgain]],
    ['a write was lost', [rare, { ...often, lost: ['register-0'] }, rareAgain]],
    ['a read was stale', [rare, often, { ...rareAgain, staleReads: 1 }]],
    ['the pods did not become more', [rare, { ...often, podsMost: 1 }, { ...rareAgain, podsAfter: 1 }]],
    ['they stayed', [rare, often, { ...rareAgain, podsAfter: 3 }]],
  ])('did not if %s', (_, rows) => {
    expect(isMissed(rows)).toBe(true);
  });

  test('is reported with each change of its pods once', () => {
    const text = autoscalingPresentation.report([rare, often, rareAgain]);
    expect(text).toContain('| 300           |');
    expect(
      text
        .split('\n')
        .slice(-3)
        .map((line) => line.replaceAll(/\s+/g, ' ')),
    ).toEqual(['| 0 | 1 | 1 | 20 |', '| 90 | 3 | 1 | - |', '| 100 | 3 | 3 | 70 |']);
  });

  test('is summed up by failed calls and pods of each phase', () => {
    expect(autoscalingPresentation.headlines?.([rare, often, rareAgain])).toEqual([
      { figure: 'Failed calls of 1,800 while a control plane was scaled by its load', value: '0' },
      { figure: 'Pods of an autoscaled control plane at 10, 300, 10 calls a second', value: '1, 3, 1' },
    ]);
  });
});
