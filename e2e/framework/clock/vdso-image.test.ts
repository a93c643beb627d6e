import { expect, test } from '@jest/globals';

import { elfWith } from './small-elf.ts';
import { readVdsoImage } from './vdso-image.ts';

test('functions of a vDSO are found by name, and what it only refers to is not', () => {
  const bytes = elfWith([
    { name: '__vdso_time', at: 0x200, type: 2 },
    { name: 'LINUX_2.6', at: 0, type: 1 },
    { name: 'elsewhere', at: 0, type: 2, isUndefined: true },
    { name: '__vdso_clock_gettime', at: 0x240, type: 2 },
  ]);
  const image = readVdsoImage(bytes);
  expect([...image.functions]).toEqual([
    ['__vdso_time', 0x200],
    ['__vdso_clock_gettime', 0x240],
  ]);
  expect(image.end).toBe(0x2a0);
});

test('what is no ELF file of 64 bits is refused', () => {
  const bytes = elfWith([]);
  bytes[4] = 1;
  expect(() => readVdsoImage(bytes)).toThrow('no ELF file of 64 bits');
});
