import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { RunProgram } from './debian-packages.ts';
import { unpackDebianPackage } from './unpack-debian-package.ts';

let into: string;

beforeEach(async () => {
  into = await mkdtemp(join(tmpdir(), 'unpack-'));
});

afterEach(async () => {
  await rm(into, { recursive: true });
});

/** Writes an archive where apt-get would, and its one file where dpkg-deb would. */
const machine =
  (calls: string[]): RunProgram =>
  async (program, words) => {
    calls.push(program);
    if (program === 'sh') await writeFile(join(words[2] ?? '', 'nginx_1.deb'), '');
    else await writeFile(join(words[2] ?? '', 'nginx'), words[1] ?? '');
    return '';
  };

describe('unpackDebianPackage', () => {
  test('downloads and unpacks it once', async () => {
    const calls: string[] = [];
    const folder = await unpackDebianPackage('nginx', into, machine(calls));
    expect(await readFile(join(folder, 'nginx'), 'utf8')).toMatch(/nginx_1\.deb$/);
    await unpackDebianPackage('nginx', into, machine(calls));
    expect(calls).toEqual(['sh', 'dpkg-deb']);
    expect(await readdir(into)).toEqual(['nginx']);
  });

  test('names the fix if it cannot be downloaded, and leaves nothing', async () => {
    const broken: RunProgram = () => Promise.reject(new Error('no such package'));
    await expect(unpackDebianPackage('nginx', into, broken)).rejects.toThrow(
      /nginx could not be unpacked: .*apt-get update/,
    );
    expect(await readdir(into)).toEqual([]);
  });
});
