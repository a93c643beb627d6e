import { describe, expect, test } from '@jest/globals';
import type { QuotaStatus } from '../../../api/steward/v1alpha1/quota-status.ts';
import { strippedSpec } from '../../../testing/builders/stripped-field.ts';
import type { DataMeasurement } from './data-measurement.ts';
import { decide as decideAsGiven } from './quota-decision.ts';
import type { QuotaDecision } from './quota-decision.ts';
import { keepMs } from './quota-part.ts';
import type { Quota } from './quota-part.ts';

const now = new Date('2030-01-01T00:00:00Z');
const later = (ms: number): Date => new Date(now.getTime() + ms);
const mebi = 2 ** 20;

/** As for an author who has not set the field that is stripped. */
const decide: typeof decideAsGiven = (quota, seen) => decideAsGiven(strippedSpec({ quota }).quota, seen);

const both: Quota = { dataSize: '100Mi', objects: 1000, warnAtPercent: 80 };

function decided(
  found: { readonly mebibytes?: number; readonly keys?: number },
  options: { readonly quota?: Quota; readonly before?: QuotaStatus; readonly at?: Date } = {},
): QuotaDecision {
  const { mebibytes = 1, keys = 1 } = found;
  const measurement = { found: { bytes: mebibytes * mebi, keys, time: now } };
  return decide(options.quota ?? both, { before: options.before, measurement, now: options.at ?? now });
}

const blocked = (objects: number, hard: QuotaStatus['hard'] = { dataSize: '100Mi', objects: 1000 }): QuotaStatus => ({
  ...{ hard, blocked: true, measuredTime: '2030-01-01T00:00:00Z' },
  used: { dataSize: '1', objects },
});

describe('A quota', () => {
  test.each([
    [{ mebibytes: 79, keys: 799 }, 'WithinQuota', false],
    [{ mebibytes: 80 }, 'NearQuota', false],
    [{ keys: 800 }, 'NearQuota', false],
    [{ mebibytes: 99.9, keys: 999 }, 'NearQuota', false],
    [{ mebibytes: 100 }, 'QuotaExceeded', true],
    [{ keys: 1000 }, 'QuotaExceeded', true],
    [{ keys: 5000 }, 'QuotaExceeded', true],
  ] as const)('of 100 MiB and 1000 objects with %j in use: %s', (found, reason, isBlocked) => {
    const { status, ...decision } = decided(found);
    expect([decision.reason, status.blocked]).toEqual([reason, isBlocked]);
  });

  test('limits only what it names', () => {
    const dataSize: Quota = { dataSize: '100Mi', warnAtPercent: 80 };
    const objects: Quota = { objects: 10, warnAtPercent: 80 };
    const reasons = [dataSize, objects].map((quota) =>
      [{ keys: 5000 }, { mebibytes: 5000 }].map((found) => decided(found, { quota }).reason),
    );
    expect(reasons).toEqual([
      ['WithinQuota', 'QuotaExceeded'],
      ['QuotaExceeded', 'WithinQuota'],
    ]);
  });

  test('warns at the percentage in the spec', () => {
    expect(decided({ keys: 500 }, { quota: { ...both, warnAtPercent: 50 } }).reason).toBe('NearQuota');
  });

  test('says what is used, what is allowed, and until when writes are denied', () => {
    expect(decided({ mebibytes: 120, keys: 10 }).message).toBe(
      'the tenant stores 120 MiB of 100 MiB: creations and changes are denied until it stores less than 95 MiB',
    );
    expect(decided({ mebibytes: 120, keys: 1001 }).message).toMatch(
      /stores 120 MiB of 100 MiB, 1001 of 1000 objects: .* less than 95 MiB and less than 950 objects$/,
    );
    expect(decided({ keys: 10 }).message).toBe('the tenant stores 1 MiB of 100 MiB, 10 of 1000 objects');
    expect(decided({ keys: 900 }).message).toBe('the tenant stores 900 of 1000 objects');
  });

  test('records what is used and allowed, and when it was measured', () => {
    expect(decided({ mebibytes: 1, keys: 7 }).status).toEqual({
      hard: { dataSize: '100Mi', objects: 1000 },
      used: { dataSize: '1048576', objects: 7 },
      measuredTime: '2030-01-01T00:00:00Z',
      blocked: false,
    });
  });
});

describe('A blocked tenant', () => {
  test('may write again once it uses less than 95 percent', () => {
    expect(decided({ keys: 950 }, { before: blocked(1000) }).status.blocked).toBe(true);
    expect(decided({ keys: 949 }, { before: blocked(1000) }).status.blocked).toBe(false);
    expect(decided({ keys: 949 }, { before: blocked(1000) }).reason).toBe('NearQuota');
  });

  test('may write again at once when the limit is raised', () => {
    const quota = { ...both, objects: 1001 };
    const { status } = decide(quota, { before: blocked(1000), measurement: {}, now });
    expect([status.blocked, status.hard.objects]).toEqual([false, 1001]);
  });

  test('stays blocked while a new manager has not measured it yet', () => {
    const { reason, status } = decide(both, { before: blocked(1000), measurement: {}, now: later(keepMs - 1) });
    expect([reason, status.blocked]).toEqual(['QuotaExceeded', true]);
  });

  test('is not blocked for longer than ten minutes because it cannot be measured', () => {
    const measurement: DataMeasurement = { failure: 'the datastore does not answer' };
    const soon = decide(both, { before: blocked(1000), measurement, now: later(60_000) });
    expect(soon.message).toMatch(/; last measured at 2030-01-01T00:00:00Z: the datastore does not answer$/);
    expect([soon.status.blocked, soon.endsAfterMs]).toEqual([true, keepMs - 60_000]);
    const end = decide(both, { before: soon.status, measurement, now: later(keepMs) });
    expect([end.reason, end.status.blocked, end.endsAfterMs]).toEqual(['MeasurementFailed', false, undefined]);
    expect(end.message).toBe(
      'not measured since 2030-01-01T00:00:00Z, so writes are allowed: the datastore does not answer',
    );
    // What the next measurement finds counts again.
    const again = { found: { bytes: 1, keys: 1000, time: later(keepMs) } };
    expect(decide(both, { before: end.status, measurement: again, now: later(keepMs) }).status.blocked).toBe(true);
  });
});

test('a tenant that was never measured may write', () => {
  const first = decide(both, { measurement: {}, now });
  expect(first).toEqual({
    ...{ reason: 'NotMeasured', message: 'not measured yet' },
    status: { hard: { dataSize: '100Mi', objects: 1000 }, blocked: false },
  });
  expect(decide(both, { measurement: { failure: 'no' }, now }).message).toBe('not measured yet: no');
});

test('the newest measurement counts, whether it is recorded or of this manager', () => {
  const measurement = { found: { bytes: 1, keys: 1, time: later(-60_000) } };
  const { status } = decide(both, { before: blocked(1000), measurement, now });
  expect(status.used?.objects).toBe(1000);
  const newer = { found: { bytes: 1, keys: 1, time: later(1000) } };
  expect(decide(both, { before: blocked(1000), measurement: newer, now }).status.used?.objects).toBe(1);
});

describe('A limit of writes', () => {
  const quota: Quota = { writesPerSecond: 100, warnAtPercent: 80 };
  const writes = (perSecond: number, over: object = {}): DataMeasurement => ({
    writes: {
      found: {
        ...{ limit: 100, perSecond, isEmpty: false, isOverdrawn: false },
        ...{ refilled: later(30_400), time: now, ...over },
      },
    },
  });
  const denied = (over: Partial<QuotaStatus> = {}): QuotaStatus => ({
    ...{ hard: { writesPerSecond: 100 }, used: { writesPerSecond: 400 }, measuredTime: '2030-01-01T00:00:00Z' },
    ...{ blocked: true, reached: ['writesPerSecond'] as const, ...over },
  });

  test.each([
    [writes(79.4), 'WithinQuota', false],
    [writes(80), 'NearQuota', false],
    // More than a minute of the limit is what blocks, not the rate of the moment.
    [writes(500), 'NearQuota', false],
    [writes(500, { isEmpty: true }), 'QuotaExceeded', true],
    [writes(3, { isEmpty: true }), 'QuotaExceeded', true],
  ] as const)('decides by the writes that are left: %j', (measurement, reason, isBlocked) => {
    const decision = decide(quota, { measurement, now });
    expect([decision.reason, decision.status.blocked]).toEqual([reason, isBlocked]);
  });

  test('says what was seen, what is allowed, and until when writes are denied', () => {
    expect(decide(quota, { measurement: writes(12.4), now }).message).toBe(
      'the tenant makes 12 of 100 writes a second',
    );
    expect(decide(quota, { measurement: writes(1999.7, { isEmpty: true }), now }).message).toBe(
      'the tenant makes 2000 of 100 writes a second: creations and changes are denied until 2030-01-01T00:00:30Z, and for longer if it goes on writing',
    );
  });

  test('records the rate, and which limit was reached', () => {
    const { status } = decide(quota, { measurement: writes(1999.7, { isEmpty: true, isOverdrawn: true }), now });
    expect(status).toEqual(denied({ used: { writesPerSecond: 2000 }, overdrawn: true }));
    expect(decide(quota, { measurement: writes(7), now }).status).toEqual({
      ...{ hard: { writesPerSecond: 100 }, used: { writesPerSecond: 7 } },
      ...{ measuredTime: '2030-01-01T00:00:00Z', blocked: false },
    });
  });

  test('holds together with the others, each with what it says', () => {
    const all: Quota = { ...both, writesPerSecond: 100 };
    const stored = { found: { bytes: mebi, keys: 1000, time: later(-20_000) } };
    const measurement = { ...stored, ...writes(900, { isEmpty: true }) };
    const { message, status } = decide(all, { measurement, now });
    expect(message).toBe(
      'the tenant stores 1000 of 1000 objects and makes 900 of 100 writes a second: creations and changes are denied until it stores less ' +
        'than 950 objects and until 2030-01-01T00:00:30Z, and for longer if it goes on writing',
    );
    expect(status).toEqual({
      hard: { dataSize: '100Mi', objects: 1000, writesPerSecond: 100 },
      used: { dataSize: '1048576', objects: 1000, writesPerSecond: 900 },
      // The earlier one.
      measuredTime: '2029-12-31T23:59:40Z',
      blocked: true,
      reached: ['objects', 'writesPerSecond'],
    });
    const within = { found: { bytes: mebi, keys: 1, time: now }, ...writes(1) };
    expect(decide(all, { measurement: within, now }).message).toBe(
      'the tenant stores 1 MiB of 100 MiB, 1 of 1000 objects and makes 1 of 100 writes a second',
    );
  });

  test('that was reached does not lower the limit of what is stored', () => {
    const all: Quota = { objects: 1000, writesPerSecond: 100, warnAtPercent: 80 };
    const before = denied({
      hard: { objects: 1000, writesPerSecond: 100 },
      used: { objects: 960, writesPerSecond: 400 },
    });
    const measurement = { found: { bytes: 1, keys: 960, time: now }, ...writes(1) };
    expect(decide(all, { before, measurement, now })).toMatchObject({
      reason: 'NearQuota',
      status: { blocked: false },
    });
  });

  test('keeps a tenant blocked while a new manager has not counted its writes yet', () => {
    const { message, status } = decide(quota, { before: denied(), measurement: {}, now: later(60_000) });
    expect([status.blocked, status.reached]).toEqual([true, ['writesPerSecond']]);
    expect(message).toMatch(/^the tenant makes 400 of 100 writes a second: .* until its writes are counted again$/);
    const first = { writes: { found: { ...writes(0, { isEmpty: true }).writes?.found, perSecond: undefined } } };
    const counted = decide(quota, { before: denied(), measurement: first as DataMeasurement, now });
    expect([counted.status.blocked, counted.status.used]).toEqual([true, { writesPerSecond: 400 }]);
  });

  test('allows writes at once when it is raised', () => {
    const raised: Quota = { ...quota, writesPerSecond: 200 };
    const measurement = writes(400, { isEmpty: true });
    expect(decide(raised, { before: denied(), measurement, now }).status.blocked).toBe(false);
  });

  test('does not hold for longer than ten minutes without a count', () => {
    const measurement = { writes: { ...writes(400, { isEmpty: true }).writes, failure: 'it does not answer' } };
    expect(decide(quota, { measurement, now: later(keepMs - 1) }).message).toMatch(
      /; last measured at 2030-01-01T00:00:00Z: it does not answer$/,
    );
    const end = decide(quota, { before: denied(), measurement, now: later(keepMs) });
    expect([end.reason, end.status.blocked]).toEqual(['MeasurementFailed', false]);
    expect(end.message).toBe('not measured since 2030-01-01T00:00:00Z, so writes are allowed: it does not answer');
    const all: Quota = { ...quota, objects: 10 };
    const stored = { found: { bytes: 1, keys: 10, time: later(keepMs) } };
    expect(decide(all, { measurement: { ...measurement, ...stored }, now: later(keepMs) })).toMatchObject({
      ...{ reason: 'QuotaExceeded', status: { reached: ['objects'] } },
    });
  });

  test('blocks nobody whose writes were never counted, or only once', () => {
    expect(decide(quota, { measurement: {}, now })).toMatchObject({
      reason: 'NotMeasured',
      status: { blocked: false },
    });
    const failed = { writes: { failure: 'it does not answer' } };
    expect(decide(quota, { measurement: failed, now }).message).toBe('not measured yet: it does not answer');
  });
});
