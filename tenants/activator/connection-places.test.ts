import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ConnectionPlaces } from './connection-places.ts';
import type { Place } from './connection-places.ts';

const limits = { most: 5, mostOfTenant: 3 };
const home = '192.0.2.1';
const abroad = '198.51.100.1';

/** Takes places and notes whose were ended. */
class Callers {
  readonly places = new ConnectionPlaces(limits);
  readonly ended: string[] = [];

  take(tenant: string, name: string, peer = home): Place | undefined {
    return this.places.take(tenant, peer, () => {
      this.ended.push(name);
    });
  }

  /** Places of callers that have said hello. */
  wait(tenant: string, names: readonly string[], peer = home): void {
    for (const name of names) this.take(tenant, name, peer)?.settle();
  }

  /** Places of connections that are passed on. */
  pass(tenant: string, names: readonly string[], peer = home): void {
    for (const name of names) {
      const place = this.take(tenant, name, peer);
      place?.settle();
      place?.pass();
    }
  }
}

describe('Places of connections that wait', () => {
  test('are bounded for a tenant: the oldest one that is silent makes room', () => {
    const callers = new Callers();
    callers.take('a', 'first')?.settle();
    callers.take('a', 'second');
    callers.take('a', 'third');
    expect(callers.take('a', 'fourth')).toBeDefined();
    expect(callers.ended).toEqual(['second']);
    expect(callers.places.size).toBe(3);
  });

  test('are refused while all others of the caller are those of clients', () => {
    const callers = new Callers();
    callers.wait('a', ['first', 'second', 'third']);
    expect(callers.take('a', 'fourth')).toBeUndefined();
    expect(callers.take('b', 'other')).toBeDefined();
    expect(callers.ended).toEqual([]);
  });

  test('are taken from the caller who has most, for one at another address', () => {
    const callers = new Callers();
    callers.wait('a', ['first', 'second', 'third']);
    callers.wait('a', ['other'], abroad);
    expect(callers.ended).toEqual(['third']);
    expect(callers.take('a', 'again', abroad)).toBeUndefined();
  });

  test('are taken from the oldest one that is silent where all callers have as many', () => {
    const callers = new Callers();
    callers.wait('a', ['first'], '192.0.2.1');
    callers.take('a', 'second', '192.0.2.2');
    callers.take('a', 'third', '192.0.2.3');
    expect(callers.take('a', 'fourth', '192.0.2.4')).toBeDefined();
    expect(callers.ended).toEqual(['second']);
  });

  test('are taken from the oldest one that is silent where all tenants have as many', () => {
    const callers = new Callers();
    for (const tenant of ['a', 'b', 'c', 'd', 'e']) callers.take(tenant, tenant);
    expect(callers.take('f', 'f')).toBeDefined();
    expect(callers.ended).toEqual(['a']);
  });

  test('are one caller’s in all of a network of IPv6', () => {
    const callers = new Callers();
    callers.wait('a', ['first'], home);
    callers.wait('a', ['second'], '2001:db8::1');
    callers.wait('a', ['third'], '2001:db8::2');
    expect(callers.take('a', 'fourth', '2001:db8::3')).toBeUndefined();
    expect(callers.take('a', 'other', abroad)).toBeDefined();
    expect(callers.ended).toEqual(['third']);
  });

  test('are bounded for all, and the tenant that has most makes room, also if its callers are clients', () => {
    const callers = new Callers();
    callers.wait('a', ['a1', 'a2', 'a3']);
    callers.wait('b', ['b1', 'b2']);
    expect(callers.take('c', 'c1')).toBeDefined();
    expect([callers.ended, callers.places.size]).toEqual([['a3'], 5]);
    expect(callers.take('b', 'b3')).toBeUndefined();
  });

  test('are free again once, however often they are left', () => {
    const callers = new Callers();
    const place = callers.take('a', 'first');
    callers.take('a', 'second');
    place?.leave();
    place?.leave();
    expect(callers.places.size).toBe(1);
  });
});

describe('Places of connections that were passed on', () => {
  test('are no places of those that wait', () => {
    const callers = new Callers();
    callers.pass('a', ['a1', 'a2', 'a3']);
    callers.pass('b', ['b1', 'b2']);
    callers.wait('a', ['a4', 'a5', 'a6']);
    expect(callers.take('c', 'c1')).toBeDefined();
    expect([callers.ended, callers.places.size]).toEqual([[], 9]);
  });

  test('are bounded for a tenant: the oldest one makes room', () => {
    const callers = new Callers();
    callers.pass('a', ['first', 'second', 'third', 'fourth']);
    expect([callers.ended, callers.places.size]).toEqual([['first'], 3]);
  });

  test('are bounded for all: the oldest one of the tenant that has most makes room', () => {
    const callers = new Callers();
    callers.pass('b', ['b1', 'b2']);
    callers.pass('a', ['a1', 'a2', 'a3']);
    callers.pass('c', ['c1']);
    expect([callers.ended, callers.places.size]).toEqual([['a1'], 5]);
  });

  test('are not taken by a connection that has been ended meanwhile', () => {
    const callers = new Callers();
    const place = callers.take('a', 'first');
    place?.leave();
    place?.pass();
    expect(callers.places.size).toBe(0);
  });
});

interface Open {
  readonly tenant: string;
  readonly peer: string;
  readonly place: Place;
  is: 'silent' | 'waiting' | 'passed';
}

const counted = (open: Iterable<Open>, is: (one: Open) => boolean): ReadonlyMap<string, number> =>
  new Map(
    [...Map.groupBy([...open].filter(is), ({ tenant }) => tenant)].map(([tenant, list]) => [tenant, list.length]),
  );

test('Nobody makes room for one who has more, whatever callers do, and there are never more than the limits', () => {
  const step = fc.record({
    does: fc.constantFrom('take', 'take', 'take', 'settle', 'pass', 'leave'),
    tenant: fc.constantFrom('a', 'b', 'c'),
    peer: fc.constantFrom(home, abroad),
    which: fc.nat({ max: 20 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const places = new ConnectionPlaces(limits);
      const open = new Map<number, Open>();
      const isPassed = ({ is }: Open): boolean => is === 'passed';
      const isWaiting = ({ is }: Open): boolean => is !== 'passed';
      let next = 0;
      let lost: Open[] = [];
      for (const { does, tenant, peer, which } of steps) {
        const [id, chosen] = [...open][which % Math.max(open.size, 1)] ?? [];
        lost = [];
        const before = [...open.values()].map((one) => ({ ...one }));
        if (does === 'take') {
          const mine = next;
          next += 1;
          const place = places.take(tenant, peer, () => {
            const one = open.get(mine);
            if (one !== undefined) lost.push(one);
            open.delete(mine);
          });
          const counts = counted(before, isWaiting);
          const own = counts.get(tenant) ?? 0;
          if (place !== undefined) open.set(mine, { tenant, peer, place, is: 'silent' });
          // Refused is only who has his share.
          else expect(own === limits.mostOfTenant || own + 1 >= Math.max(...counts.values())).toBe(true);
          for (const one of lost) expect(counts.get(one.tenant)).toBeGreaterThanOrEqual(own);
          for (const one of lost) expect(isPassed(one)).toBe(false);
        } else if (chosen !== undefined && id !== undefined) {
          if (does === 'settle' && chosen.is === 'silent') chosen.is = 'waiting';
          if (does === 'settle') chosen.place.settle();
          if (does === 'leave') {
            chosen.place.leave();
            open.delete(id);
          }
          if (does === 'pass' && chosen.is !== 'passed') {
            const counts = counted(before, isPassed);
            chosen.is = 'passed';
            chosen.place.pass();
            expect(open.get(id)).toBe(chosen);
            for (const one of lost)
              expect(counts.get(one.tenant)).toBeGreaterThanOrEqual(counts.get(chosen.tenant) ?? 0);
            for (const one of lost) expect(isPassed(one)).toBe(true);
          }
        }
        expect(lost.length).toBeLessThanOrEqual(1);
        expect(places.size).toBe(open.size);
        for (const is of [isWaiting, isPassed]) {
          const counts = [...counted(open.values(), is).values()];
          expect(counts.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(limits.most);
          expect(Math.max(0, ...counts)).toBeLessThanOrEqual(limits.mostOfTenant);
        }
      }
    }),
  );
});
