import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ScenarioQueue } from './scenario-queue.ts';

const seconds = new Map([
  ['tenants', 100],
  ['workers', 200],
  ['rollouts', 300],
]);
const order = ['rollouts', 'tenants', 'workers'];

describe('scenarios while there is time', () => {
  test('run in their order', () => {
    const queue = new ScenarioQueue({ order, seconds, slowness: 1 });
    expect([queue.next(1000), queue.next(1000), queue.next(1000), queue.next(1000)]).toEqual([...order, undefined]);
    expect(queue.waiting).toEqual([]);
  });

  test('give way to a shorter one when they would not end in time', () => {
    const queue = new ScenarioQueue({ order, seconds, slowness: 1 });
    expect(queue.next(374)).toBe('tenants');
    expect(queue.next(249)).toBeUndefined();
    expect(queue.waiting).toEqual(['rollouts', 'workers']);
  });

  test('stay where they are while they may not begin', () => {
    const queue = new ScenarioQueue({ order, seconds, slowness: 1 });
    expect(queue.next(1000, (name) => name !== 'rollouts')).toBe('tenants');
    expect(queue.next(1000)).toBe('rollouts');
  });

  test('need more time on a slower machine', () => {
    expect(new ScenarioQueue({ order, seconds, slowness: 2 }).next(749)).toBe('tenants');
    expect(new ScenarioQueue({ order, seconds, slowness: 2 }).next(750)).toBe('rollouts');
  });

  test('take as long as those before them, compared with what is known', () => {
    const queue = new ScenarioQueue({ order, seconds, slowness: 1 });
    queue.ended('rollouts', 900);
    expect(queue.pace).toBe(2);
    expect(queue.expected('workers')).toBe(400);
  });

  test('have a usual length when theirs is unknown', () => {
    const queue = new ScenarioQueue({ order: ['new'], seconds, slowness: 1 });
    expect(queue.next(374)).toBeUndefined();
    expect(queue.next(375)).toBe('new');
  });

  test('are each run once or left waiting, and none begins that is expected to end too late', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1 }),
        fc.double({ min: 0.5, max: 4, noNaN: true }),
        fc.nat(3000),
        fc.double({ min: 0.5, max: 4, noNaN: true }),
        (names, slowness, limit, real) => {
          const known = new Map<string, number>(names.map((name, at) => [name, 50 * (at + 1)]));
          const queue = new ScenarioQueue({ order: names, seconds: known, slowness });
          const ran: string[] = [];
          for (let left = limit, name = queue.next(left); name !== undefined; name = queue.next(left)) {
            expect(queue.expected(name)).toBeLessThanOrEqual(left);
            const took = (known.get(name) ?? 0) * real;
            queue.ended(name, took);
            ran.push(name);
            left -= took;
          }
          expect([...ran, ...queue.waiting].toSorted()).toEqual(names.toSorted());
        },
      ),
    );
  });
});
