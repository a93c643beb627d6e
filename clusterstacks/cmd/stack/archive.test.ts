import { describe, expect, test } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { packArchive, unpackArchive } from './archive.ts';

const long = `${'folder/'.repeat(20)}file-with-a-name.yaml`;
const files = new Map([
  ['cni/Chart.yaml', Buffer.from('name: cni\n')],
  ['cni/charts/x.tgz', Buffer.from([0, 255, 1])],
  ['a.txt', Buffer.alloc(0)],
  [long, Buffer.from('deep')],
]);

describe('An archive', () => {
  test('contains the packed files, whatever their length and the length of their names', async () => {
    const unpacked = await unpackArchive(packArchive(files, 'with-folders'), 'it');
    expect(new Map([...unpacked].sort())).toEqual(new Map([...files].sort()));
  });

  test('has the same bytes for the same files, in any order', () => {
    const again = packArchive(new Map([...files].reverse()), 'with-folders');
    expect(packArchive(files, 'with-folders').equals(again)).toBe(true);
    expect([...again.subarray(4, 10)]).toEqual([0, 0, 0, 0, 2, 255]);
  });

  test('refuses a path that tar cannot store', () => {
    expect(() => packArchive(new Map([['x'.repeat(101), Buffer.alloc(0)]]), 'files-only')).toThrow('is too long');
  });

  test.each([
    ['bytes that are no archive', Buffer.from('hello')],
    ['a compressed text', gzipSync('hello'.repeat(500))],
    ['a path that leads out', packArchive(new Map([['../out', Buffer.from('x')]]), 'files-only')],
  ])('cannot be read from %s', async (_, bytes) => {
    await expect(unpackArchive(bytes, 'x.tgz')).rejects.toThrow('x.tgz is not an archive of files');
  });
});
