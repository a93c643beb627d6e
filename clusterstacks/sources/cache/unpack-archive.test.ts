import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import type { ArchiveEntry } from '../../../testing/worlds/stacks/stack-release.ts';
import { archiveOf, tarOf } from '../../../testing/worlds/stacks/stack-release.ts';
import { BadReleaseError } from '../asset-errors.ts';
import { defaultAssetLimits } from '../asset-limits.ts';
import { unpackArchive } from './unpack-archive.ts';

const never = new AbortController().signal;
let root = '';
let folder = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'unpack-'));
  folder = join(root, 'inside');
  await mkdir(folder);
});
afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

async function unpack(bytes: Uint8Array, limits: Partial<typeof defaultAssetLimits> = {}): Promise<readonly string[]> {
  const file = join(root, 'a.tgz');
  await writeFile(file, bytes);
  return unpackArchive({ name: 'a.tgz', file, folder }, { ...defaultAssetLimits, ...limits }, never);
}

describe('An archive', () => {
  test('of files and folders is unpacked, with or without ./ in front', async () => {
    const long = `cni/${'n'.repeat(90)}/templates/${'m'.repeat(90)}.yaml`;
    const top = await unpack(
      archiveOf([
        { path: './', type: 'Directory' },
        { path: './cni/', type: 'Directory' },
        { path: './cni/Chart.yaml', content: 'name: cni' },
        { path: 'ccm/templates/deep/one.yaml', content: 'x'.repeat(200_000) },
        { path: long, content: 'y' },
      ]),
    );
    expect([...top].sort()).toEqual(['ccm', 'cni']);
    await expect(readFile(join(folder, 'cni/Chart.yaml'), 'utf8')).resolves.toBe('name: cni');
    await expect(readFile(join(folder, long), 'utf8')).resolves.toBe('y');
    expect((await lstat(join(folder, 'ccm/templates/deep/one.yaml'))).size).toBe(200_000);
  });

  test('may be 32 steps deep and no deeper', async () => {
    const deep = (steps: number) => archiveOf([{ path: `${'a/'.repeat(steps - 1)}x`, content: '1' }]);
    await expect(unpack(deep(32))).resolves.toEqual(['a']);
    await expect(unpack(deep(33))).rejects.toThrow(': paths in a release archive must be short');
  });

  test('that is only validated is not written', async () => {
    const file = join(root, 'a.tgz');
    await writeFile(file, archiveOf([{ path: 'cni/Chart.yaml', content: 'x'.repeat(100_000) }]));
    await expect(unpackArchive({ name: 'a', file }, defaultAssetLimits, never)).resolves.toEqual(['cni']);
    await expect(readdir(folder)).resolves.toEqual([]);
  });

  const hostile: Record<string, readonly [readonly ArchiveEntry[], string]> = {
    'with .. in a path': [[{ path: 'cni/../../x', content: '1' }], 'a.tgz contains "cni/../../x": paths in a'],
    'with an absolute path': [[{ path: '/tmp/x', content: '1' }], 'a.tgz contains "/tmp/x": paths'],
    'with a backslash': [[{ path: '..\\x', content: '1' }], ': paths'],
    'with a symbolic link': [
      [
        { path: 'cni', type: 'SymbolicLink', linkpath: '..' },
        { path: 'cni/x', content: '1' },
      ],
      'a.tgz contains "cni" of type SymbolicLink: a release archive may contain only files and folders, no links',
    ],
    'with a hard link': [[{ path: 'cni/x', type: 'Link', linkpath: '/etc/passwd' }], 'of type Link'],
    'with a device': [[{ path: 'cni/x', type: 'CharacterDevice' }], 'of type CharacterDevice'],
    'with a pipe': [[{ path: 'cni/x', type: 'FIFO' }], 'of type FIFO'],
    'with a name twice': [
      [
        { path: 'cni/x', content: '1' },
        { path: 'cni/./x', content: '2' },
      ],
      'a.tgz contains cni/x twice',
    ],
    'with a file for a folder': [
      [
        { path: 'cni', content: '1' },
        { path: 'cni/x', content: '2' },
      ],
      'or both as a file and as a folder',
    ],
    'of endless depth': [[{ path: 'a/'.repeat(40) + 'x', content: '1' }], ': paths in a release archive'],
    'that ends too early': [
      [{ path: 'cni/x', content: '1', size: 1_000_000 }],
      'is not a complete gzipped tar archive',
    ],
  };
  test.each(Object.entries(hostile))('%s is refused', async (_, [entries, message]) => {
    const failure = unpack(archiveOf(entries));
    await expect(failure).rejects.toThrow(BadReleaseError);
    await expect(failure).rejects.toThrow(message);
    expect(await readdir(root)).toEqual(['a.tgz', 'inside']);
  });

  test('never writes through a link that is in its folder already', async () => {
    await writeFile(join(root, 'precious'), 'mine');
    await mkdir(join(folder, 'cni'));
    await symlink(join(root, 'precious'), join(folder, 'cni/x'));
    await expect(unpack(archiveOf([{ path: 'cni/x', content: 'theirs' }]))).rejects.toThrow(BadReleaseError);
    await expect(readFile(join(root, 'precious'), 'utf8')).resolves.toBe('mine');
  });

  test.each([
    ['no gzip', Buffer.from('hello')],
    ['half of one', archiveOf([{ path: 'cni/x', content: 'abc'.repeat(10_000) }]).subarray(0, 100)],
    ['gzip of something else', gzipSync('hello')],
    ['gzip of nothing', gzipSync('')],
    ['nothing', Buffer.alloc(0)],
    [
      'of a broken header',
      gzipSync(
        Buffer.concat([
          tarOf([{ path: 'cni/x' }])
            .subarray(0, 512)
            .fill(1, 148, 156),
          Buffer.alloc(1024),
        ]),
      ),
    ],
  ])('that is %s is refused', async (_, bytes) => {
    const failure = unpack(bytes);
    await expect(failure).rejects.toThrow(BadReleaseError);
    await expect(failure).rejects.toThrow('a.tgz is not a complete gzipped tar archive');
  });

  test('that expands a thousandfold is aborted early', async () => {
    const bomb = archiveOf([{ path: 'cni/x', content: Buffer.alloc(64 * 1024 * 1024) }]);
    expect(bomb.length).toBeLessThan(100_000);
    await expect(unpack(bomb)).rejects.toThrow('a.tgz grows to more than 200 times its size when unpacked');
    const { size } = await lstat(join(folder, 'cni/x'));
    expect(size).toBeLessThan(20 * 1024 * 1024);
  });

  test('with too many bytes or entries is refused', async () => {
    const large = archiveOf([{ path: 'cni/x', content: 'x'.repeat(100_000) }]);
    await expect(unpack(large, { maxUnpackedBytes: 50_000 })).rejects.toThrow('more than 50000 bytes when unpacked');
    const many = archiveOf(Array.from({ length: 50 }, (_, index) => ({ path: `cni/${index}` })));
    await expect(unpack(many, { maxEntries: 49 })).rejects.toThrow('a.tgz contains more than 49 entries');
  });

  test('is aborted with its caller', async () => {
    const file = join(root, 'a.tgz');
    await writeFile(file, archiveOf([{ path: 'cni/x', content: 'x' }]));
    const stopped = AbortSignal.abort(new Error('the manager stops'));
    await expect(unpackArchive({ name: 'a', file, folder }, defaultAssetLimits, stopped)).rejects.toThrow(
      'the manager stops',
    );
  });
});
