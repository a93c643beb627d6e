import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { paceRules, RequeuePace } from './requeue-pace.ts';

class Paced {
  now = 0;
  readonly pace: RequeuePace;

  constructor(concernsMany = false) {
    this.pace = new RequeuePace({ now: () => this.now, concernsMany });
  }

  /** One reconcile that only a timer caused; returns the delay. */
  round(over: Partial<Parameters<RequeuePace['ended']>[1]> = {}): number {
    this.now += this.pace.begin('a', 'time');
    const delay = this.pace.ended('a', { askedMs: 25, progressed: false, heldMs: 0, tookMs: 5, ...over });
    this.now += delay ?? 0;
    return delay ?? Infinity;
  }
}

describe('A reconcile without progress that requests a short delay', () => {
  test.each([0, 1, 25, 100, 2_000])('%i ms: fifty of them take minutes, and the last one waits a minute', (askedMs) => {
    const paced = new Paced();
    const delays = Array.from({ length: 250 }, () => paced.round({ askedMs }));
    expect(delays.slice(0, 200).reduce((sum, ms) => sum + ms)).toBeGreaterThan(60_000);
    expect(delays.at(-1)).toBe(60_000);
  });

  test('is not delayed in the first seconds', () => {
    const paced = new Paced();
    const delays = Array.from({ length: 80 }, () => paced.round());
    expect(new Set(delays)).toEqual(new Set([25]));
    expect(paced.now).toBeGreaterThanOrEqual(2_000);
  });

  test('is delayed longer each time afterwards', () => {
    const paced = new Paced();
    for (let n = 0; n < 100; n += 1) paced.round();
    const steps = Array.from({ length: 10 }, () => paced.round());
    expect(steps).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  });

  test('is not delayed while it makes progress, two hundred times, and then at most ten times a minute', () => {
    const paced = new Paced();
    const further = (): number => paced.round({ askedMs: 2_000, hasMore: true });
    expect(new Set(Array.from({ length: 200 }, further))).toEqual(new Set([2_000]));
    for (let n = 0; n < 20; n += 1) further();
    const begin = paced.now;
    for (let n = 0; n < 100; n += 1) further();
    expect(paced.now - begin).toBeGreaterThan(10 * 60_000);
  });

  test('is never delayed while it gets further in work on an object that concerns many others', () => {
    const paced = new Paced(true);
    const delays = Array.from({ length: 1_000 }, () => paced.round({ askedMs: 3_000, hasMore: true }));
    expect(new Set(delays)).toEqual(new Set([3_000]));
  });

  test('is not delayed further if it requests a longer delay', () => {
    const paced = new Paced();
    expect(paced.round({ askedMs: 900_000 })).toBe(900_000);
    expect(paced.round({ askedMs: 30_000 })).toBe(30_000);
  });
});

describe('The backoff of a key', () => {
  const tired = (): Paced => {
    const paced = new Paced();
    for (let n = 0; n < 120; n += 1) paced.round();
    return paced;
  };

  test('is reset by a change of the spec, at once', () => {
    const paced = tired();
    expect(paced.pace.begin('a', 'edited')).toBe(0);
    expect(paced.round()).toBe(25);
  });

  test('is reset by progress and by a watched change', () => {
    const paced = tired();
    expect(paced.round({ progressed: true })).toBe(25);
    for (let n = 0; n < 200; n += 1) paced.round();
    expect(paced.round()).toBe(60_000);
    expect(paced.pace.begin('a', 'watched')).toBe(0);
    expect(paced.round()).toBeLessThanOrEqual(250);
  });

  test('is not reset forever: changes and progress are counted', () => {
    const paced = new Paced();
    let rounds = 0;
    const hour = 3_600_000;
    while (paced.now < hour) {
      const wait = paced.pace.begin('a', 'watched');
      paced.now += wait > 0 ? wait : 0;
      if (wait > 0) continue;
      paced.pace.ended('a', { askedMs: 0, progressed: true, heldMs: 0, tookMs: 1 });
      paced.now += 1_000;
      rounds += 1;
    }
    expect(rounds).toBeLessThanOrEqual(paceRules.reconciles.burst + hour / paceRules.reconciles.eachMs + 10);
  });

  test('allows status that alternates at each attempt only a few attempts a minute', () => {
    const paced = new Paced();
    let rounds = 0;
    while (paced.now < 3_600_000) {
      paced.round({ askedMs: 0, progressed: true });
      rounds += 1;
    }
    expect(rounds).toBeLessThan(60 * 15);
  });

  test('is not counted for objects that concern many others', () => {
    const paced = new Paced(true);
    for (let n = 0; n < 1_000; n += 1) {
      expect(paced.pace.begin('a', 'watched')).toBe(0);
      paced.pace.ended('a', { askedMs: undefined, progressed: true, heldMs: 0, tookMs: 1 });
    }
  });
});

describe('A key whose reconcile occupied a worker for a second or more', () => {
  test('is delayed that long, doubling up to five minutes, whatever it requests', () => {
    const paced = new Paced();
    const delays = Array.from({ length: 9 }, () => paced.round({ heldMs: 10_000, tookMs: 10_000 }));
    expect(delays).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000, 300_000]);
  });

  test('is reconciled earlier after a change of the spec, but not after a watched change', () => {
    const paced = new Paced();
    paced.pace.ended('a', { askedMs: 25, progressed: false, heldMs: 10_000, tookMs: 10_000 });
    expect(paced.pace.begin('a', 'watched')).toBe(10_000);
    expect(paced.pace.begin('a', 'edited')).toBe(0);
  });

  test('gets back half of its delay at a time', () => {
    const paced = new Paced();
    for (let n = 0; n < 4; n += 1) paced.round({ heldMs: 1_000 });
    expect(paced.pace.holds('a')).toBe(4);
    paced.round();
    expect(paced.pace.holds('a')).toBe(2);
  });
});

test('a delay is never negative, and never longer than requested or allowed', () => {
  const end = fc.record({
    askedMs: fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: undefined }),
    progressed: fc.boolean(),
    heldMs: fc.integer({ min: 0, max: 30_000 }),
    tookMs: fc.integer({ min: 0, max: 30_000 }),
  });
  const step = fc.record({
    end,
    cause: fc.constantFrom('edited', 'watched', 'time'),
    passedMs: fc.integer({ min: 0, max: 100_000 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const paced = new Paced();
      for (const { end, cause, passedMs } of steps) {
        paced.now += passedMs;
        const wait = paced.pace.begin('a', cause);
        expect(wait).toBeGreaterThanOrEqual(0);
        expect(wait).toBeLessThanOrEqual(300_000);
        const delay = paced.pace.ended('a', end);
        expect(delay === undefined).toBe(end.askedMs === undefined);
        if (delay === undefined || end.askedMs === undefined) continue;
        expect(delay).toBeGreaterThanOrEqual(end.askedMs);
        expect(delay).toBeLessThanOrEqual(Math.max(end.askedMs, 300_000));
      }
    }),
  );
});

test('an idle key that has used nothing up is not stored', () => {
  const paced = new Paced();
  paced.round({ askedMs: undefined });
  expect(paced.pace.size).toBe(0);
  for (let n = 0; n < 20; n += 1) paced.round();
  paced.pace.forget('a');
  expect(paced.pace.size).toBe(0);
});

test('an idle key is stored until its budget is full again', () => {
  const paced = new Paced();
  paced.round({ askedMs: undefined, progressed: true });
  expect(paced.pace.size).toBe(1);
  paced.now = paceRules.resets.eachMs;
  paced.round({ askedMs: undefined });
  expect(paced.pace.size).toBe(0);
});
