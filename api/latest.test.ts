import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Latest } from './latest.ts';

describe('The latest values', () => {
  test('are made once, as long as so few others are asked for in between', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(fc.nat(8)), (most, asked) => {
        const latest = new Latest<string>(most);
        asked.forEach((one, index) => {
          let isMade = false;
          const value = latest.of(String(one), (text) => {
            isMade = true;
            return `value of ${text}`;
          });
          const before = asked.slice(0, index);
          const since = before.lastIndexOf(one);
          const isKept = since >= 0 && new Set(before.slice(since + 1)).size < most;
          expect([value, isMade]).toEqual([`value of ${one}`, !isKept]);
        });
      }),
    );
  });

  test('are not what could not be made', () => {
    const latest = new Latest<number>(2);
    const fail = (): number => {
      throw new Error('no');
    };
    expect(() => latest.of('a', fail)).toThrow('no');
    expect(latest.of('a', () => 1)).toBe(1);
  });
});
