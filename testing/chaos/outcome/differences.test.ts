import { describe, expect, test } from '@jest/globals';
import { differencesOf, isNone, noiseBetween } from './differences.ts';

const shape = (values: Record<string, unknown>): ReadonlyMap<string, unknown> => new Map(Object.entries(values));

describe('The differences between two runs', () => {
  test('name what is left over, what is missing, and each value that is another', () => {
    const expected = shape({ a: { spec: { x: 1, list: [1, 2] } }, gone: {} });
    const found = shape({ a: { spec: { x: 2, list: [1, 3] } }, more: {} });
    expect(differencesOf(expected, found, new Set())).toEqual({
      leftOver: ['more'],
      missing: ['gone'],
      changed: ['a spec.x: 2 instead of 1', 'a spec.list[1]: 3 instead of 2'],
    });
  });

  test('are none where two runs that nothing disturbs differ as well', () => {
    const [one, other] = [shape({ a: { x: 1, y: 1 } }), shape({ a: { x: 2, y: 1 } })];
    const noise = noiseBetween(one, other);
    expect(isNone(differencesOf(one, shape({ a: { x: 3, y: 1 } }), noise))).toBe(true);
    expect(differencesOf(one, shape({ a: { x: 3, y: 2 } }), noise).changed).toEqual(['a y: 2 instead of 1']);
    expect(differencesOf(one, shape({ a: { x: 1 } }), noise).changed).toEqual(['a y: nothing instead of 1']);
  });
});
