import { describe, expect, test } from '@jest/globals';

import { loadShortfalls, tooFew, tooLong } from './load-shortfalls.ts';
import type { LoadReport } from './tenant-load.ts';

const report = (changes: Partial<LoadReport> = {}): LoadReport => ({
  lastedMs: 10_000,
  asked: { writesPerSecond: 30, readsPerSecond: 20 },
  writes: 250,
  denied: 0,
  failedWrites: [],
  reads: 180,
  failedReads: [],
  repeated: 0,
  onceMore: [],
  staleReads: 0,
  longestPauseMs: 300,
  slowestCallMs: 300,
  ...changes,
});

describe('a load that did not fail', () => {
  test('shows enough when it was made', () => {
    expect(loadShortfalls(report())).toEqual([]);
  });

  test('shows nothing when no call was made', () => {
    expect(loadShortfalls(report({ writes: 0, reads: 0 }))).toEqual([
      '0 writes of 300 that were asked for, at least 60 are needed',
      '0 reads of 200 that were asked for, at least 40 are needed',
    ]);
  });

  test('counts writes that were denied: they were answered', () => {
    expect(loadShortfalls(report({ writes: 20, denied: 40 }))).toEqual([]);
  });

  test.each([{ longestPauseMs: 5100 }, { slowestCallMs: 5100 }])('shows an outage by a long wait: %j', (changes) => {
    const said = loadShortfalls(report(changes));
    expect(said).toEqual([expect.stringMatching(/: 5\.1 s, at most 5\.0 s are allowed$/)]);
    expect(loadShortfalls(report(changes), 6000)).toEqual([]);
  });
});

test('what lasted no time was made once at least', () => {
  expect(tooFew([{ what: 'events', count: 0, perSecond: 10, lastedMs: 0 }])).toHaveLength(1);
  expect(tooFew([{ what: 'events', count: 1, perSecond: 10, lastedMs: 0 }])).toEqual([]);
});

test('waits are told by their names', () => {
  expect(tooLong({ gap: 6000, other: 4000 })).toEqual(['gap: 6.0 s, at most 5.0 s are allowed']);
});
