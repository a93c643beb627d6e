import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BoundedCache } from './bounded-cache.ts';

describe('BoundedCache', () => {
  test('evicts the least recently used value', () => {
    const cache = new BoundedCache<string>(3);
    for (const key of ['a', 'b', 'c']) cache.set(key, key, 1);
    cache.get('a');
    cache.set('d', 'd', 1);
    expect(['a', 'b', 'c', 'd'].map((key) => cache.get(key))).toEqual(['a', undefined, 'c', 'd']);
  });

  test('does not store a value that exceeds its bound', () => {
    const cache = new BoundedCache<string>(3);
    cache.set('a', 'small', 1);
    cache.set('a', 'large', 4);
    expect(cache.get('a')).toBeUndefined();
    expect(cache.cost).toBe(0);
  });

  test('never exceeds its bound, and always returns the last value that was set', () => {
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 'c', 'd'),
      cost: fc.nat(6),
      is: fc.constantFrom('set', 'delete'),
    });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const cache = new BoundedCache<number>(10);
        const last = new Map<string, number>();
        steps.forEach(({ key, cost, is }, index) => {
          if (is === 'set') cache.set(key, index, cost);
          else cache.delete(key);
          last.set(key, is === 'set' ? index : -1);
          expect(cache.cost).toBeLessThanOrEqual(10);
        });
        for (const [key, index] of last) expect([undefined, index]).toContain(cache.get(key));
      }),
    );
  });
});
