import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { seededRandom } from '../../e2e/framework/attacks/seeded-random.ts';
import { faultKinds } from './chaos-rows.ts';
import { concernsManager, planFaults } from './fault-plan.ts';

const plans = fc.record({
  seconds: fc.integer({ min: 60, max: 1800 }),
  managers: fc.integer({ min: 2, max: 4 }),
  seed: fc.nat(),
});

describe('The faults of a run', () => {
  test('leave one manager alone at any time, and concern none twice', () => {
    fc.assert(
      fc.property(plans, ({ seconds, managers, seed }) => {
        const planned = planFaults({ seconds, managers, random: seededRandom(seed) });
        for (const { at } of planned) {
          const concerned = planned.filter(
            (other) => concernsManager(other.kind) && at >= other.at && at <= other.at + other.lasts,
          );
          expect(new Set(concerned.map((one) => one.manager)).size).toBe(concerned.length);
          expect(concerned.length).toBeLessThan(managers);
        }
      }),
    );
  });

  test('are over before the run is', () => {
    fc.assert(
      fc.property(plans, ({ seconds, managers, seed }) => {
        for (const { at, lasts } of planFaults({ seconds, managers, random: seededRandom(seed) }))
          expect(at + lasts).toBeLessThanOrEqual(seconds - 10);
      }),
    );
  });

  test('are of every kind in half an hour, and the same with the same seed', () => {
    const plan = (): ReturnType<typeof planFaults> =>
      planFaults({ seconds: 1800, managers: 3, random: seededRandom(7) });
    expect(plan()).toEqual(plan());
    expect(new Set(plan().map(({ kind }) => kind))).toEqual(new Set(faultKinds));
    expect(plan().length).toBeGreaterThan(100);
  });
});
