import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { longestDelayMs, planReserve, replacementDelayMs, stalledMs } from './plan.ts';
import type { Prepared, Reserve } from './plan.ts';

const now = 1_000_000_000;
const none = { count: 0, last: 0 };

const prepared = (name: string, changes: Partial<Prepared> = {}): Prepared => ({
  ...{ name, current: true, ready: true, created: now - 1000, since: now - 1000 },
  ...changes,
});
const plan = (reserve: Partial<Reserve>): ReturnType<typeof planReserve> =>
  planReserve({ prepared: [], wanted: 2, replaced: none, ...reserve }, now);
const stalled = (name: string, ms = stalledMs): Prepared => prepared(name, { ready: false, since: now - ms });

describe('The plan of a pool', () => {
  test('creates what is missing; those that are not Ready yet count', () => {
    expect(plan({})).toEqual({ create: 2, remove: [], stalled: [] });
    expect(plan({ prepared: [prepared('a', { ready: false })] }).create).toBe(1);
    expect(plan({ prepared: [prepared('a'), prepared('b')] })).toEqual({ create: 0, remove: [], stalled: [] });
  });

  test('removes what is too many: those that are not Ready first, then the newest', () => {
    const all = [
      prepared('old', { created: 1 }),
      prepared('new', { created: 3 }),
      prepared('middle', { created: 2 }),
      prepared('unready', { created: 0, ready: false }),
    ];
    expect(plan({ prepared: all }).remove).toEqual(['new', 'unready']);
    expect(plan({ prepared: all, wanted: 0 }).remove).toHaveLength(4);
  });

  test('keeps Ready ones of a former template until new ones are Ready, and no others', () => {
    const former = [prepared('f1', { current: false }), prepared('f2', { current: false })];
    const broken = prepared('f3', { current: false, ready: false });
    expect(plan({ prepared: [...former, broken] })).toMatchObject({ create: 2, remove: ['f3'] });
    const fresh = [prepared('n1'), prepared('n2', { ready: false })];
    expect(plan({ prepared: [...former, ...fresh] })).toMatchObject({ create: 0, remove: ['f2'] });
    expect(plan({ prepared: [...former, prepared('n1'), prepared('n2')] }).remove).toEqual(['f1', 'f2']);
  });

  test('makes room with one of a former template when the creation of a new one is refused', () => {
    const former = [prepared('f1', { current: false }), prepared('f2', { current: false })];
    expect(plan({ prepared: former, refused: true })).toMatchObject({ create: 0, remove: ['f2'] });
    expect(plan({ prepared: [prepared('n1')], refused: true })).toMatchObject({ create: 0, remove: [] });
  });

  test('replaces the oldest that does not become Ready, and creates nothing beside it', () => {
    const found = plan({ prepared: [stalled('a'), stalled('b', stalledMs + 1)], wanted: 10 });
    expect(found).toEqual({ create: 0, remove: [], stalled: ['b', 'a'], replace: 'b' });
    expect(plan({ prepared: [stalled('a', stalledMs - 1)] }).next).toBe(now + 1);
  });

  test('replaces the next one only after a delay that doubles', () => {
    const replaced = { count: 2, last: now - 4 * stalledMs + 1 };
    const late = plan({ prepared: [stalled('a')], replaced });
    expect(late.replace).toBeUndefined();
    expect(late.next).toBe(now + 1);
    expect(plan({ prepared: [stalled('a')], replaced: { count: 2, last: now - 4 * stalledMs } }).replace).toBe('a');
    expect([0, 1, 2, 3, 40].map(replacementDelayMs)).toEqual([
      0,
      2 * stalledMs,
      4 * stalledMs,
      8 * stalledMs,
      longestDelayMs,
    ]);
  });

  test('after a replacement creates one at a time until one becomes Ready', () => {
    const replaced = { count: 1, last: now };
    expect(plan({ wanted: 10, replaced }).create).toBe(1);
    expect(plan({ wanted: 10, replaced, prepared: [prepared('a', { ready: false })] }).create).toBe(0);
    expect(plan({ wanted: 10, replaced, prepared: [prepared('a')] }).create).toBe(1);
  });
});

const anyPrepared = fc.record({
  current: fc.boolean(),
  ready: fc.boolean(),
  created: fc.integer({ min: now - 5 * stalledMs, max: now }),
});
const anyReserve = fc.record({
  wanted: fc.nat(8),
  refused: fc.boolean(),
  replaced: fc.record({ count: fc.nat(5), last: fc.integer({ min: now - longestDelayMs, max: now }) }),
  prepared: fc
    .array(anyPrepared, { maxLength: 20 })
    .map((all) => all.map((one, at): Prepared => ({ ...one, name: `p${at}`, since: one.created }))),
});

test('of any reserve, a plan never makes more than wanted, and takes no Ready one away that is needed', () => {
  fc.assert(
    fc.property(anyReserve, (reserve) => {
      const found = planReserve(reserve, now);
      const current = reserve.prepared.filter((one) => one.current);
      const gone = new Set([...found.remove, found.replace]);
      const left = current.filter(({ name }) => !gone.has(name));
      expect(left.length + found.create).toBeLessThanOrEqual(reserve.wanted);
      // Nothing is created beside what is too many.
      expect(found.create > 0 && found.remove.some((name) => current.some((one) => one.name === name))).toBe(false);
      const readyBefore = current.filter(({ ready }) => ready).length;
      const readyAfter = left.filter(({ ready }) => ready).length;
      expect(readyAfter).toBe(Math.min(readyBefore, reserve.wanted));
      const former = reserve.prepared.filter((one) => !one.current && one.ready);
      const spared = former.filter(({ name }) => !gone.has(name)).length;
      const missing = Math.max(reserve.wanted - readyAfter, 0);
      const room = reserve.refused ? Math.max(missing - 1, 0) : missing;
      expect(spared).toBe(Math.min(former.length, room));
      expect(new Set(found.remove).size).toBe(found.remove.length);
      expect(found.next ?? Infinity).toBeGreaterThan(now);
    }),
  );
});

test('any reserve comes to rest at what is wanted, if what is created becomes Ready', () => {
  fc.assert(
    fc.property(anyReserve, ({ wanted, prepared: all, replaced }) => {
      let reserve: readonly Prepared[] = all.map((one) => ({ ...one, ready: one.ready || one.current }));
      for (let turn = 0; turn < 30; turn += 1) {
        const { create, remove } = planReserve({ prepared: reserve, wanted, replaced }, now);
        const made = Array.from({ length: create }, (_, at) => prepared(`t${turn}-${at}`));
        reserve = [...reserve.filter(({ name }) => !remove.includes(name)), ...made];
      }
      expect(reserve).toHaveLength(wanted);
      expect(reserve.every(({ current }) => current)).toBe(true);
    }),
  );
});
