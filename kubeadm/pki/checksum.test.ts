import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { checksum } from './checksum.ts';

describe('checksum', () => {
  test('is a valid label value and does not depend on the order of keys', () => {
    expect(checksum({ a: '1', b: '2' })).toMatch(/^[0-9a-f]{32}$/);
    expect(checksum({ b: '2', a: '1' })).toBe(checksum({ a: '1', b: '2' }));
    expect(checksum({ a: Buffer.from('1') })).toBe(checksum({ a: '1' }));
  });

  test('takes an undefined entry for an absent one', () => {
    expect(checksum({ a: '1', b: undefined })).toBe(checksum({ a: '1' }));
  });

  test('is the same as in earlier versions, because pods restart when it changes', () => {
    expect(checksum({ b: '2', a: '1' })).toBe('778304653d00aa872ebd9103c47511d6');
  });

  test('differs for different data, also if the concatenated parts are equal', () => {
    const data = fc.dictionary(fc.string(), fc.string(), { maxKeys: 4 });
    fc.assert(
      fc.property(data, data, (a, b) => {
        const sorted = (value: Record<string, string>): string => JSON.stringify(Object.entries(value).sort());
        expect(checksum(a) === checksum(b)).toBe(sorted(a) === sorted(b));
      }),
    );
    expect(checksum({ a: '1', b: '2' })).not.toBe(checksum({ a: '1b2' }));
    expect(checksum({ a: '12', b: '' })).not.toBe(checksum({ a: '1', b: '2' }));
  });
});
