import { describe, expect, test } from '@jest/globals';

import { cycleMs, leasesOfTenant, loadCycle, readsPerSecond, writesPerSecond } from './load-cycle.ts';

const kinds = 60;
const many = Array.from({ length: 100 }, (_, number) => ({ number, isMeasured: false }));

describe('The load of an idle tenant', () => {
  const actions = loadCycle([{ number: 3, isMeasured: false }], kinds);
  const count = (is: string): number => actions.filter((action) => action.is === is).length;

  test('is what the page of quotas says of two replicas and ten nodes: about 2.4 writes a second', () => {
    expect(writesPerSecond).toBeCloseTo(2.4);
    expect(count('renew')).toBe((2.4 * cycleMs) / 1000);
    expect(new Set(actions.filter(({ is }) => is === 'renew').map(({ which }) => which)).size).toBe(leasesOfTenant);
  });

  test('has a read a second for a probe, and a count of each kind a minute', () => {
    expect(count('read') + count('count')).toBe((readsPerSecond(kinds) * cycleMs) / 1000);
    expect(count('count')).toBe(kinds);
  });

  test('renews each lease in even intervals', () => {
    const times = actions.filter(({ is, which }) => is === 'renew' && which === 0).map(({ atMs }) => atMs);
    const gaps = times.slice(1).map((at, index) => Math.round(at - (times[index] ?? 0)));
    expect(new Set(gaps)).toEqual(new Set([2000]));
  });
});

test('The measured tenant renews one more lease ten times a second', () => {
  const actions = loadCycle([{ number: 0, isMeasured: true }], kinds);
  expect(actions.filter(({ which, is }) => is === 'renew' && which === leasesOfTenant)).toHaveLength(cycleMs / 100);
});

test('The load of many tenants is in the order of time, within one cycle, and spread evenly', () => {
  const actions = loadCycle(many, kinds);
  const times = actions.map(({ atMs }) => atMs);
  expect(times).toEqual(times.toSorted((one, other) => one - other));
  expect(times.every((at) => at >= 0 && at < cycleMs)).toBe(true);
  const perSecond = Map.groupBy(times, (at) => Math.floor(at / 1000));
  const mean = times.length / (cycleMs / 1000);
  for (const { length } of perSecond.values()) expect(Math.abs(length - mean)).toBeLessThan(mean / 10);
});
