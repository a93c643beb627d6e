import { expect, test } from '@jest/globals';
import { CorruptValueError, decodeBlock, encodeBlock, longestBlock } from './s2-block.ts';

/** A block that says it has `length` bytes, begins with `abcd`, and goes on by copying what stands so far back. */
const copying = (length: number, back: number, copied = 4): Uint8Array =>
  Uint8Array.from([length, 3 << 2, ...Buffer.from('abcd'), ((copied - 1) << 2) | 2, back & 255, back >> 8]);

test('a copy may begin at any earlier byte', () => {
  expect(Buffer.from(decodeBlock(copying(8, 4))).toString()).toBe('abcdabcd');
  expect(Buffer.from(decodeBlock(copying(8, 1))).toString()).toBe('abcddddd');
});

test.each([
  ['from before the beginning', copying(8, 5)],
  ['from where it goes', copying(8, 0)],
  ['beyond the length that the block announces', copying(7, 4)],
  ['less than the length that the block announces', copying(9, 4)],
])('a block that copies %s is damaged', (_what, block) => {
  expect(() => decodeBlock(block)).toThrow(CorruptValueError);
});

test('a block that announces more literal bytes than it has, or has room for, is damaged', () => {
  expect(() => decodeBlock(Uint8Array.from([4, 3 << 2, 97, 98]))).toThrow(CorruptValueError);
  expect(() => decodeBlock(Uint8Array.from([3, 3 << 2, 97, 98, 99, 100]))).toThrow(CorruptValueError);
});

test('the longest block is decoded, and a longer one is refused', () => {
  const bytes = Buffer.alloc(longestBlock, 'abcdefghi');
  expect(Buffer.compare(decodeBlock(encodeBlock(bytes)), bytes)).toBe(0);
  expect(() => encodeBlock(Buffer.alloc(longestBlock + 1))).toThrow(RangeError);
});

test('a block that announces more than any writer puts into one is damaged, before memory is taken for it', () => {
  for (const announced of [
    [0xff, 0xff, 0xff, 0xff, 0x7f],
    [0x81, 0x80, 0x80, 0x02],
  ])
    expect(() => decodeBlock(Uint8Array.from([...announced, 0, 97]))).toThrow(
      new CorruptValueError('a compressed value has a block of more than 4 MiB'),
    );
});
