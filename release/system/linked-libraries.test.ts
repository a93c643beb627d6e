import { expect, test } from '@jest/globals';

import { neededIn } from './linked-libraries.ts';

test('the libraries and the loader of a program are read from what readelf says', () => {
  const output = `
Elf file type is DYN (Position-Independent Executable file)
  INTERP         0x000318 0x0000000000000318 0x0000000000000318 0x00001b 0x00001b R   0x1
      [Requesting program interpreter: /lib/ld-linux-aarch64.so.1]
Dynamic section at offset 0x7c0 contains 38 entries:
  Tag        Type                         Name/Value
 0x0000000000000001 (NEEDED)             Shared library: [libdl.so.2]
 0x0000000000000001 (NEEDED)             Shared library: [libc.so.6]
 0x000000000000001d (RUNPATH)            Library runpath: [/nowhere]
`;
  expect(neededIn(output)).toEqual(['libdl.so.2', 'libc.so.6', '/lib/ld-linux-aarch64.so.1']);
});

test('a static program needs nothing', () => {
  expect(neededIn('There is no dynamic section in this file.')).toEqual([]);
});
