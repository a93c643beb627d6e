import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { UseCounters } from './use-counters.ts';
import { longestWatchMs, useStep } from './use-record.ts';
import type { UseRecord } from './use-record.ts';

const minuteMs = 60_000;

type Counted = Partial<Omit<UseCounters, 'requests' | 'watches'>> & {
  readonly requests?: Readonly<Record<string, number>>;
  readonly watches?: Readonly<Record<string, number>>;
};

const counters = ({ requests = {}, watches = {}, ...rest }: Counted = {}): UseCounters => ({
  ...{ background: 0, connects: 0, streams: 0, ...rest },
  requests: new Map(Object.entries(requests)),
  watches: new Map(Object.entries(watches)),
});

/** Which of the readings, a minute apart, show use. */
function used(...readings: readonly Counted[]): readonly boolean[] {
  let record: UseRecord | undefined;
  return readings.map((reading, minute) => {
    const step = useStep(record, counters(reading), minute * minuteMs);
    ({ record } = step);
    return step.isUsed;
  });
}

describe('An API server', () => {
  test('counts as used at first, and is not used while only requests in the background are counted', () => {
    expect(used({ background: 5 }, { background: 9, watches: { pods: 4 } }, { background: 20 })).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('is used by one request', () => {
    const requests = { 'global-default': 1 };
    expect(used({}, { requests }, { requests })).toEqual([true, true, false]);
  });

  test('is used while exec runs, and was used if it has ended before the reading', () => {
    expect(used({}, { streams: 1, connects: 1 }, { streams: 1, connects: 1 }, { connects: 1 })).toEqual([
      ...[true, true, true, false],
    ]);
    expect(used({}, { connects: 1 }, { connects: 1 })).toEqual([true, true, false]);
  });

  test('is used as long as a watch is open that was opened with a request', () => {
    const requests = { 'global-default': 1 };
    expect(
      used(
        { watches: { pods: 2 } },
        { requests, watches: { pods: 3 } },
        { requests, watches: { pods: 3 } },
        { requests, watches: { pods: 2 } },
      ),
    ).toEqual([true, true, true, false]);
  });

  test('is not used by a watch that is opened without a request of users', () => {
    expect(used({ watches: { pods: 2 } }, { background: 1, watches: { pods: 3 } })).toEqual([true, false]);
  });

  test('is not used forever because something in the background began to watch together with a request', () => {
    const requests = { 'global-default': 1 };
    const minutes = longestWatchMs / minuteMs;
    const after = Array.from({ length: minutes + 1 }, () => ({ requests, watches: { pods: 3 } }));
    const found = used({ watches: { pods: 2 } }, ...after);
    expect([found.lastIndexOf(true), found.at(-1)]).toEqual([minutes, false]);
  });

  test.each([
    [
      'requests',
      { requests: { 'global-default': 2 }, background: 9 },
      { requests: { 'global-default': 1 }, background: 9 },
    ],
    ['requests in the background', { background: 9 }, { background: 8 }],
    ['exec', { connects: 1 }, {}],
  ])('that started again counts as used: its counter of %s is smaller', (_what, before, now) => {
    expect(used(before, before, now, now)).toEqual([true, false, true, false]);
  });

  test('is never idle while requests of users are made, whatever else happens', () => {
    const reading = fc.record({
      added: fc.nat({ max: 3 }),
      background: fc.nat({ max: 5 }),
      watches: fc.nat({ max: 5 }),
    });
    fc.assert(
      fc.property(fc.array(reading, { minLength: 1, maxLength: 20 }), (readings) => {
        let [requests, background] = [0, 0];
        const list = readings.map((step) => {
          requests += step.added;
          background += step.background;
          return { requests: { user: requests }, background, watches: { pods: step.watches } };
        });
        const found = used({}, ...list);
        for (const [index, { added }] of readings.entries()) if (added > 0) expect(found[index + 1]).toBe(true);
      }),
    );
  });
});
