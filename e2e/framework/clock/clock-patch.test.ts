import { expect, test } from '@jest/globals';

import { clockPatch, offsetBytes } from './clock-patch.ts';
import { elfWith } from './small-elf.ts';
import { readVdsoImage } from './vdso-image.ts';

const moved = ['__vdso_clock_gettime', '__vdso_gettimeofday', '__vdso_time'] as const;
const functions = (names: readonly string[] = moved) =>
  names.map((name, index) => ({ name, at: 0x200 + index * 0x20, type: 2 }));

test('functions that read the clock lead to code behind the end, which reads the offset', () => {
  // What follows a jump is written once more as it was: nop.
  const { offsetAt, code, jumps } = clockPatch(readVdsoImage(elfWith(functions())));
  expect([offsetAt, code.at]).toEqual([0x2a0, 0x2a0]);
  expect(jumps.map(({ at, bytes }) => [at, bytes[0], at + 5 + bytes.readInt32LE(1), bytes.toString('hex', 5)])).toEqual(
    [
      [0x200, 0xe9, 0x2b0, '909090'],
      [0x220, 0xe9, 0x2d0, '909090'],
      [0x240, 0xe9, 0x2f0, '909090'],
    ],
  );
  expect(code.bytes.toString('hex').match(/.{32}/g)).toEqual([
    '00000000000000000000000000000000',
    // clock_gettime: only for the clocks 0 and 5 is the offset added, which is 43 bytes before the next instruction.
    'b8e40000000f0585c0751385ff740583',
    'ff05750a488b0dd5ffffff48010ec3cc',
    'b8600000000f0585c0750f4885ff740a',
    '488b0db9ffffff48010fc3cccccccccc',
    'b8c90000000f054885c07812488b0d9d',
    'ffffff4801c84885ff7403488907c3cc',
  ]);
});

test('an offset may be negative', () => {
  expect(offsetBytes(43_200).toString('hex')).toBe('c0a8000000000000');
  expect(offsetBytes(-1).toString('hex')).toBe('ffffffffffffffff');
});

test('a kernel without one of the functions, or without room, is refused', () => {
  expect(() => clockPatch(readVdsoImage(elfWith(functions(moved.slice(1)))))).toThrow('no __vdso_clock_gettime');
  const full = elfWith(functions()).fill(0x90, 0xfc0);
  expect(() => clockPatch(readVdsoImage(full))).toThrow('no room');
});
