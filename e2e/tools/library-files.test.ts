import { describe, expect, test } from '@jest/globals';
import { librariesIn, libraryFiles } from './library-files.ts';

const output = `/usr/sbin/nft:
\tlinux-vdso.so.1 (0x00007ffd)
\tlibnftables.so.1 => /lib/x86_64-linux-gnu/libnftables.so.1 (0x00007f10)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f11)
\t/lib64/ld-linux-x86-64.so.2 (0x00007f12)
/usr/sbin/conntrack:
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f13)
`;

describe('librariesIn', () => {
  test('lists each file once, the loader too, and not what the kernel provides', () => {
    expect(librariesIn(output)).toEqual([
      '/lib/x86_64-linux-gnu/libc.so.6',
      '/lib/x86_64-linux-gnu/libnftables.so.1',
      '/lib64/ld-linux-x86-64.so.2',
    ]);
  });

  test('names a library that is missing', () => {
    expect(() => librariesIn('\tlibmnl.so.0 => not found\n')).toThrow('The library libmnl.so.0 is missing');
  });
});

describe('libraryFiles', () => {
  test('finds the C library of this Node and refuses a file that is not there', async () => {
    expect((await libraryFiles(process.execPath)).some((path) => path.includes('libc.so'))).toBe(true);
    await expect(libraryFiles('/nowhere/program')).rejects.toThrow('/nowhere/program');
  });
});
