import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ConnectionPlaces } from './connection-places.ts';
import type { Place } from './connection-places.ts';

const limits = { most: 5, mostOfTenant: 3 };

/** Takes places and notes whose were ended. */
class Callers {
  readonly places = new ConnectionPlaces(limits);
  readonly ended: string[] = [];

  take(tenant: string, name: string): Place | undefined {
    return this.places.take(tenant, () => {
      this.ended.push(name);
    });
  }
}

describe('Places of connections', () => {
  test('of a tenant are bounded: the oldest one that is silent makes room', () => {
    const callers = new Callers();
    callers.take('a', 'first')?.settle();
    callers.take('a', 'second');
    callers.take('a', 'third');
    expect(callers.take('a', 'fourth')).toBeDefined();
    expect(callers.ended).toEqual(['second']);
    expect(callers.places.size).toBe(3);
  });

  test('are refused while all others of the tenant are those of clients', () => {
    const callers = new Callers();
    for (const name of ['first', 'second', 'third']) callers.take('a', name)?.settle();
    expect(callers.take('a', 'fourth')).toBeUndefined();
    expect(callers.take('b', 'other')).toBeDefined();
    expect(callers.ended).toEqual([]);
  });

  test('of all are bounded, and silent ones of any tenant make room', () => {
    const callers = new Callers();
    for (const name of ['a1', 'a2', 'a3']) callers.take('a', name);
    for (const name of ['b1', 'b2']) callers.take('b', name)?.settle();
    expect(callers.take('c', 'c1')).toBeDefined();
    expect([callers.ended, callers.places.size]).toEqual([['a1'], 5]);
  });

  test('are free again once, however often they are left', () => {
    const callers = new Callers();
    const place = callers.take('a', 'first');
    callers.take('a', 'second');
    place?.leave();
    place?.leave();
    expect(callers.places.size).toBe(1);
  });

  test('are never more than the limits, and each one that ended was silent', () => {
    const step = fc.record({
      does: fc.constantFrom('take', 'take', 'settle', 'leave'),
      tenant: fc.constantFrom('a', 'b', 'c'),
      which: fc.nat({ max: 20 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const places = new ConnectionPlaces(limits);
        const open = new Map<number, { tenant: string; place: Place; isSettled: boolean }>();
        let next = 0;
        for (const { does, tenant, which } of steps) {
          const [id, chosen] = [...open][which % Math.max(open.size, 1)] ?? [];
          if (does === 'take') {
            const mine = next;
            next += 1;
            const place = places.take(tenant, () => {
              expect(open.get(mine)?.isSettled).toBe(false);
              open.delete(mine);
            });
            if (place !== undefined) open.set(mine, { tenant, place, isSettled: false });
          } else if (chosen !== undefined && id !== undefined) {
            if (does === 'settle') chosen.place.settle();
            else chosen.place.leave();
            if (does === 'settle') chosen.isSettled = true;
            else open.delete(id);
          }
          expect(places.size).toBe(open.size);
          expect(places.size).toBeLessThanOrEqual(limits.most);
          const counts = Map.groupBy(open.values(), (one) => one.tenant);
          for (const list of counts.values()) expect(list.length).toBeLessThanOrEqual(limits.mostOfTenant);
        }
      }),
    );
  });
});
