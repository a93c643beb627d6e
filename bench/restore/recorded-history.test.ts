import { describe, expect, test } from '@jest/globals';

import { mostLostMs, RecordedHistory } from './recorded-history.ts';
import type { FoundObject, HistoryWrite } from './written-history.ts';

const at = 1_800_000_000_000;

/** A key that is written once, so many milliseconds after the beginning, within 5 ms. */
const write = (ms: number): HistoryWrite => ({
  ...{ key: `at-${ms}`, is: 'create', begunAt: at + ms, acknowledgedAt: at + ms + 5 },
  ...{ body: String(ms), text: String(ms) },
});
const unanswered = (ms: number): HistoryWrite => ({
  key: `at-${ms}`,
  is: 'create',
  begunAt: at + ms,
  body: String(ms),
});
const found = (...ms: readonly number[]): ReadonlyMap<string, FoundObject> =>
  new Map(ms.map((one) => [`at-${one}`, { body: String(one), text: String(one) }]));

const times = [0, 1000, 2000, 3000, 15_000, 20_000];
const history = new RecordedHistory([...times.map(write), unanswered(16_000), unanswered(21_000)], at + 20_010);

describe('A recorded history', () => {
  test('counts its writes, and the failures before the end', () => {
    expect(history.counts).toEqual({ acknowledged: 6, seconds: 19, perSecond: 0.3, failed: 1 });
    expect(history.middle).toEqual(new Date(at + 10_000));
  });

  test('loses nothing if all that was acknowledged is there', () => {
    const all = found(...times);
    expect(history.loss(all, history.compare(all))).toEqual({ rpoMs: 0, lost: 0, lostOlder: 0 });
  });

  test('has an RPO from the newest write before which nothing is lost to the last one', () => {
    const some = found(0, 1000, 2000, 3000, 15_000);
    expect(history.loss(some, history.compare(some))).toEqual({ rpoMs: 5000, lost: 1, lostOlder: 0 });
    const few = found(0, 1000);
    expect(history.loss(few, history.compare(few))).toEqual({ rpoMs: 19_000, lost: 4, lostOlder: 2 });
    expect(mostLostMs).toBe(10_000);
    const none = found();
    expect(history.loss(none, history.compare(none))).toEqual({ rpoMs: 20_005, lost: 6, lostOlder: 4 });
  });

  test('says so if an older write is missing', () => {
    const verdict = history.compare(found(0, 2000));
    expect(verdict.differences).toEqual(['the history was at no time as what is found: an older write is missing']);
    expect(history.compare(found(0, 4)).differences).toEqual(['at-4: was never written']);
  });

  const near = (moment: number, ...ms: readonly number[]): unknown => {
    const there = found(...ms);
    return history.nearness(there, history.compare(there), new Date(at + moment));
  };

  test('is exact at a moment if all that was acknowledged before is there, and nothing begun after', () => {
    const exact = { missing: 0, early: 0, beforeMs: 0 };
    expect(near(2500, 0, 1000, 2000)).toEqual(exact);
    expect(near(3002, 0, 1000, 2000)).toEqual(exact);
    expect(near(3002, 0, 1000, 2000, 3000)).toEqual(exact);
  });

  test('names how far from the moment it is, and the writes between', () => {
    expect(near(3500, 0, 1000)).toEqual({ missing: 2, early: 0, beforeMs: 1495 });
    expect(near(1500, 0, 1000, 2000, 3000)).toEqual({ missing: 0, early: 2, beforeMs: -1500 });
  });
});
