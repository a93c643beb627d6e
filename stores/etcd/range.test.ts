import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { prefixRange } from './range.ts';

describe('prefixRange', () => {
  test('ends at the next prefix of the same length', () => {
    expect(prefixRange(Buffer.from('/a/')).end.toString()).toBe('/a0');
  });

  test('leaves out trailing bytes that cannot grow', () => {
    expect(prefixRange(Buffer.from([0x61, 0xff, 0xff])).end).toEqual(Buffer.from([0x62]));
  });

  test('has no end when no byte can grow', () => {
    expect(() => prefixRange(Buffer.from([0xff, 0xff]))).toThrow(RangeError);
  });

  test('contains exactly the keys that begin with it', () => {
    const bytes = fc.uint8Array({ min: 0xfd, max: 0xff, minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(bytes, bytes, (prefix, key) => {
        fc.pre(prefix.some((byte) => byte !== 0xff));
        const { start, end } = prefixRange(Buffer.from(prefix));
        const isWithin = Buffer.compare(start, key) <= 0 && Buffer.compare(Buffer.from(key), end) < 0;
        const beginsWithIt = Buffer.from(key).subarray(0, prefix.length).equals(Buffer.from(prefix));
        expect(isWithin).toBe(beginsWithIt);
      }),
    );
  });
});
