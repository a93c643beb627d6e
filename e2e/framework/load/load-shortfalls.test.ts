import { describe, expect, test } from '@jest/globals';

import { slownessVariable } from '../../cluster/slowness.ts';
import { boundsOf, loadShortfalls, tooFew, tooLong } from './load-shortfalls.ts';
import type { LoadReport } from './tenant-load.ts';

// What the machine of these tests is has nothing to do with what they say.
process.env[slownessVariable] = '1';

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
  floor: { calls: 100, perSecond: 10, slowestMs: 200 },
  ...changes,
});

const usual = boundsOf(report());

describe('a load that did not fail', () => {
  test('shows enough when all calls were made', () => {
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
    expect(loadShortfalls(report(changes), 1000)).toEqual([]);
  });

  test('may wait longer, by a factor, when an untouched server was slow as well', () => {
    const floor = { calls: 100, perSecond: 10, slowestMs: 2000 };
    expect(loadShortfalls(report({ floor, slowestCallMs: 6000 }))).toEqual([]);
    expect(loadShortfalls(report({ floor, slowestCallMs: 6100 }))).toEqual([
      'slowest call: 6.1 s, at most 6.0 s are allowed',
    ]);
  });

  test('may make fewer calls when an untouched server could not answer more', () => {
    const floor = { calls: 50, perSecond: 10, slowestMs: 200 };
    expect(loadShortfalls(report({ floor, writes: 30, reads: 20 }))).toEqual([]);
    expect(loadShortfalls(report({ floor, writes: 29, reads: 20 }))).toEqual([
      '29 writes of 300 that were asked for, at least 30 are needed',
    ]);
  });
});

test('on a machine that is twice as slow waits may be twice as long', () => {
  process.env[slownessVariable] = '2';
  try {
    const floor = { calls: 0, perSecond: 10, slowestMs: 0 };
    expect(boundsOf({ floor, lastedMs: 10_000 }, 500)).toEqual({ longestMs: 10_500, leastShare: 0.1 });
    expect(loadShortfalls(report({ slowestCallMs: 9900 }))).toEqual([]);
  } finally {
    process.env[slownessVariable] = '1';
  }
});

test('an untouched server that never answers lowers no bound', () => {
  const floor = { calls: 0, perSecond: 10, slowestMs: 0 };
  expect(boundsOf({ floor, lastedMs: 10_000 })).toEqual({ longestMs: 5000, leastShare: 0.2 });
});

test('one that answers once in a while does not excuse everything', () => {
  const floor = { calls: 1, perSecond: 10, slowestMs: 60_000 };
  expect(boundsOf({ floor, lastedMs: 10_000 })).toEqual({ longestMs: 20_000, leastShare: 0.05 });
});

test('a server that answers faster than required lowers no bound', () => {
  const floor = { calls: 200, perSecond: 10, slowestMs: 1 };
  expect(boundsOf({ floor, lastedMs: 10_000 })).toEqual({ longestMs: 5000, leastShare: 0.2 });
});

test('a load that lasted no time has to be made at least once', () => {
  expect(tooFew([{ what: 'events', count: 0, perSecond: 10, lastedMs: 0 }], usual)).toHaveLength(1);
  expect(tooFew([{ what: 'events', count: 1, perSecond: 10, lastedMs: 0 }], usual)).toEqual([]);
});

test('waits are reported by their names', () => {
  expect(tooLong({ gap: 6000, other: 4000 }, usual)).toEqual(['gap: 6.0 s, at most 5.0 s are allowed']);
});
