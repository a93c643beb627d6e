import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { numberOf } from './quantity.ts';
import { quantity } from './schema.ts';

describe('numberOf', () => {
  test.each<[string | number, number | undefined]>([
    ['8Gi', 8 * 1024 ** 3],
    ['1.5Ki', 1536],
    ['1Mi', 1024 ** 2],
    ['1Ti', 1024 ** 4],
    ['1Pi', 1024 ** 5],
    ['2Ei', 2 * 1024 ** 6],
    ['3k', 3000],
    ['1T', 1e12],
    ['1P', 1e15],
    ['4u', 4e-6],
    ['4n', 4e-9],
    ['500M', 500_000_000],
    ['1e3', 1000],
    ['12E', 12e18],
    ['2E2', 200],
    ['100m', 0.1],
    ['.5', 0.5],
    ['5.', 5],
    ['+1', 1],
    ['-1Ki', -1024],
    [7, 7],
    ['', undefined],
    ['Gi', undefined],
    ['8gi', undefined],
    ['8 Gi', undefined],
    ['8Gi8', undefined],
    ['1e', undefined],
    [Number.NaN, undefined],
  ])('reads %p as %p', (text, expected) => {
    expect(numberOf(text)).toBe(expected);
  });

  test('reads everything that the schema accepts, except fractional exponents', () => {
    const pattern = new RegExp(quantity().openapi.pattern ?? '');
    const number = fc.stringMatching(/^[+-]?(\d{1,6}\.?\d{0,3}|\.\d{1,3})$/);
    const suffix = fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'e3', 'E-2');
    fc.assert(
      fc.property(number, suffix, (digits, unit) => {
        expect(pattern.test(digits + unit)).toBe(true);
        expect(numberOf(digits + unit)).toEqual(expect.any(Number));
      }),
    );
  });

  test('reads nothing that the schema refuses', () => {
    const pattern = new RegExp(quantity().openapi.pattern ?? '');
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...Array.from('0123456789.+-eEKMGi nkm')) }), (text) => {
        if (!pattern.test(text)) expect(numberOf(text)).toBeUndefined();
      }),
    );
  });
});
