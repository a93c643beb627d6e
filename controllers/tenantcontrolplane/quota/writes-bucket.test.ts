import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { afterCount, firstBucket, perSecond, refilledInMs } from './writes-bucket.ts';
import type { WritesBucket } from './writes-bucket.ts';

const source = 'default/tenant';

/** A tenant with a limit whose writes are counted when the test says so. */
class Tenant {
  readonly limit: number;
  atMs = 0;
  writes = 1000;
  bucket: WritesBucket;

  constructor(limit: number, isBlocked = false) {
    this.limit = limit;
    this.bucket = firstBucket(limit, this.#count(), isBlocked);
  }

  /** Time passes, it writes, and its writes are counted. */
  after(ms: number, writes: number): WritesBucket {
    this.atMs += ms;
    this.writes += writes;
    return (this.bucket = afterCount(this.bucket, this.#count()));
  }

  #count() {
    return { source, writes: this.writes, atMs: this.atMs };
  }
}

describe('The writes that a tenant may make', () => {
  test('are those of a minute at once, and then as many as its limit', () => {
    const tenant = new Tenant(100);
    expect(tenant.after(0, 5999).isEmpty).toBe(false);
    expect(tenant.after(0, 1).isEmpty).toBe(true);
    expect(tenant.after(29_990, 0).isEmpty).toBe(true);
    expect(tenant.after(10, 0)).toMatchObject({ isEmpty: false, left: 3000 });
    expect(tenant.after(60_000, 6000)).toMatchObject({ isEmpty: false, left: 3000 });
    expect(tenant.after(600_000, 0).left).toBe(6000);
  });

  test('are as many as its limit for ever, however seldom they are counted', () => {
    const tenant = new Tenant(100);
    for (let minute = 0; minute < 100; minute += 1) expect(tenant.after(60_000, 6000).isEmpty).toBe(false);
    expect(perSecond(tenant.bucket)).toBe(100);
  });

  test('become fewer by what was written beyond them, up to ten minutes', () => {
    const tenant = new Tenant(100);
    expect(refilledInMs(tenant.after(3000, 12_300))).toBe(90_000);
    expect(tenant.after(89_000, 0).isEmpty).toBe(true);
    expect(tenant.after(1000, 0).isEmpty).toBe(false);
    expect(refilledInMs(tenant.after(1000, 10_000_000))).toBe(630_000);
    expect(tenant.after(629_999, 0).isEmpty).toBe(true);
    expect(tenant.after(1, 0).isEmpty).toBe(false);
  });

  test('are overdrawn by what is worth five minutes, until half a minute is left', () => {
    const tenant = new Tenant(100);
    expect(tenant.after(0, 35_999)).toMatchObject({ isEmpty: true, isOverdrawn: false });
    expect(tenant.after(0, 1)).toMatchObject({ left: -30_000, isOverdrawn: true });
    expect(tenant.after(320_000, 0)).toMatchObject({ left: 2000, isOverdrawn: true });
    expect(tenant.after(10_000, 0)).toMatchObject({ isEmpty: false, isOverdrawn: false });
  });

  test('are none at first for a tenant that was blocked when the manager started', () => {
    const tenant = new Tenant(10, true);
    expect(tenant.bucket.isEmpty).toBe(true);
    expect(tenant.after(29_000, 0).isEmpty).toBe(true);
    expect(tenant.after(1000, 0).isEmpty).toBe(false);
  });

  test('do not become fewer when the count is reset, moves elsewhere, or while others write', () => {
    const { bucket } = new Tenant(10);
    const next = (writes: number) => ({ source, writes, atMs: 3000 });
    expect(afterCount(bucket, next(3)).left).toBe(600);
    expect(afterCount(bucket, { ...next(1_000_000), source: 'other/tenant' }).left).toBe(600);
    const migrating = afterCount(bucket, { ...next(1_000_000), source: undefined });
    expect(migrating.left).toBe(600);
    const moved = afterCount(migrating, { ...next(2_000_000), atMs: 4000 });
    expect(moved.left).toBe(600);
    expect(afterCount(moved, { ...next(2_000_100), atMs: 4000 }).left).toBe(500);
  });
});

test('the rate is that of the last minute, and unknown after one count', () => {
  const tenant = new Tenant(10);
  expect(perSecond(tenant.bucket)).toBeUndefined();
  expect(perSecond(tenant.after(3000, 30))).toBe(10);
  for (let each = 0; each < 19; each += 1) tenant.after(3000, 60);
  expect(perSecond(tenant.bucket)).toBe(19.5);
  expect(perSecond(tenant.after(3000, 60))).toBe(20);
  expect(tenant.bucket.seen.length).toBeLessThan(25);
  expect(perSecond(tenant.after(600_000, 600))).toBe(1);
});

const limits = fc.integer({ min: 1, max: 5000 });

/** Pauses and attempted writes. */
const attempts = fc.array(fc.record({ pauseMs: fc.integer({ min: 0, max: 30_000 }), writes: fc.nat(500) }), {
  minLength: 1,
  maxLength: 40,
});

test('a tenant whose every write is counted never makes more than its limit and a minute of it, in any span of time', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), attempts, (limit, steps) => {
      const tenant = new Tenant(limit);
      const marks = [{ atMs: 0, writes: tenant.writes }];
      for (const { pauseMs, writes } of steps) {
        tenant.after(pauseMs, 0);
        marks.push({ atMs: tenant.atMs, writes: tenant.writes });
        for (let each = 0; each < writes && !tenant.bucket.isEmpty; each += 1) tenant.after(0, 1);
        marks.push({ atMs: tenant.atMs, writes: tenant.writes });
      }
      // The last write empties the bucket, of which a fraction may have been left.
      const allowed = (ms: number): number => limit * 60 + (limit * ms) / 1000 + 1;
      const beyond = marks.flatMap((from, index) =>
        marks.slice(index).filter((to) => to.writes - from.writes > allowed(to.atMs - from.atMs)),
      );
      expect(beyond).toEqual([]);
    }),
    { numRuns: 30 },
  );
});

test('what a tenant writes before it is blocked is paid back: in the long run it makes no more than its limit', () => {
  const late = fc.record({
    everyMs: fc.integer({ min: 3000, max: 10_000 }),
    fastest: fc.integer({ min: 1, max: 2000 }),
  });
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 1000 }), late, (limit, { everyMs, fastest }) => {
      const tenant = new Tenant(limit);
      const begun = tenant.writes;
      while (tenant.atMs < 3_600_000) {
        tenant.after(everyMs, tenant.bucket.isEmpty ? 0 : Math.floor((fastest * everyMs) / 1000));
      }
      const late = (fastest * everyMs) / 1000;
      expect(tenant.writes - begun).toBeLessThanOrEqual(limit * 60 + (limit * tenant.atMs) / 1000 + late);
    }),
    { numRuns: 20 },
  );
});

test('even by what is not denied to a blocked tenant until it is overdrawn, it makes no more than six minutes beyond its limit', () => {
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 1000 }), fc.integer({ min: 3000, max: 10_000 }), (limit, everyMs) => {
      const [tenant, most] = [new Tenant(limit), 2 * everyMs];
      const begun = tenant.writes;
      let beyond = 0;
      while (tenant.atMs < 3_600_000) {
        tenant.after(everyMs, tenant.bucket.isOverdrawn ? 0 : most);
        beyond = Math.max(beyond, tenant.writes - begun - (limit * tenant.atMs) / 1000);
      }
      expect(beyond).toBeLessThanOrEqual(limit * 360 + most);
    }),
    { numRuns: 20 },
  );
});

test('a tenant that stops writing may write again, whatever it did, at the time that was said', () => {
  const history = fc.array(fc.record({ ms: fc.nat(60_000), writes: fc.nat(1_000_000) }), { maxLength: 30 });
  fc.assert(
    fc.property(limits, history, fc.boolean(), (limit, steps, isBlocked) => {
      const tenant = new Tenant(limit, isBlocked);
      for (const { ms, writes } of steps) tenant.after(ms, writes);
      const waits = refilledInMs(tenant.bucket);
      expect(waits).toBeLessThanOrEqual(630_000);
      expect(tenant.after(waits, 0)).toMatchObject({ isEmpty: false, isOverdrawn: false });
    }),
  );
});

test('a tenant that writes less than its limit is never blocked', () => {
  const spans = fc.array(fc.integer({ min: 1, max: 60_000 }), { minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(limits, spans, (limit, all) => {
      const tenant = new Tenant(limit);
      for (const ms of all) expect(tenant.after(ms, Math.floor((limit * ms) / 1000)).isEmpty).toBe(false);
    }),
  );
});
