import { describe, expect, test } from '@jest/globals';
import { templateLiteral } from './template-literal.ts';

describe('templateLiteral', () => {
  test.each<readonly [unknown, string]>([
    [null, 'nil'],
    [true, 'true'],
    [3, '(int64 3)'],
    [123456789, '(int64 123456789)'],
    [-0, '(int64 0)'],
    [1.5, '(float64 1.5)'],
    [1e21, '(float64 1e+21)'],
    [-(2 ** 63), '(float64 -9.223372036854776e+18)'],
    ['plain', '"plain"'],
    ['"}}{{ fail "x" }}\\\n', '"\\"}}{{ fail \\"x\\" }}\\\\\\u000a"'],
    ['ü€😀\ud800', '"\\u00fc\\u20ac\\U0001f600\\ufffd"'],
    [[1, 'a', []], '(list (int64 1) "a" (list))'],
    [{ a: { b: 1 }, c: undefined, d: {} }, '(dict "a" (dict "b" (int64 1)) "d" (dict))'],
  ])('%j', (value, literal) => {
    expect(templateLiteral(value)).toBe(literal);
  });

  test('refuses values that are not JSON', () => {
    expect(() => templateLiteral({ a: () => 1 })).toThrow('only JSON, not a function');
    expect(() => templateLiteral([Number.NaN])).toThrow('only JSON, not NaN');
  });
});
