import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DownloadError } from '../downloads.ts';
import type { Downloads } from '../downloads.ts';
import { findGo, isRecentGo } from './go-toolchain.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'go-toolchain-'));
});
afterEach(() => rm(folder, { recursive: true }));

const goThatSays = async (bin: string, version: string): Promise<string> => {
  await mkdir(join(folder, bin));
  const path = join(folder, bin, 'go');
  await writeFile(path, `#!/bin/sh\necho go version ${version} linux/amd64\n`);
  await chmod(path, 0o755);
  return path;
};

const offline: Downloads = {
  fetch: ({ url }) => Promise.reject(new DownloadError('unreachable', `${url} cannot be reached`)),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

const find = async (bins: readonly string[]) => {
  const told: string[] = [];
  const platform = { os: 'linux', arch: 'amd64' } as const;
  const binFolders = bins.map((bin) => join(folder, bin));
  const go = await findGo(
    { platform, binFolders, cacheFolder: join(folder, 'cache'), variables: {} },
    offline,
    (line) => told.push(line),
  );
  return { go, told };
};

describe('findGo', () => {
  test('uses the first go in PATH that can build, and reports which it skips', async () => {
    const old = await goThatSays('old', 'go1.19.8');
    const recent = await goThatSays('recent', 'go1.22.1');
    const { go, told } = await find(['old', 'recent']);
    expect(go?.program).toBe(recent);
    expect(told).toEqual([expect.stringContaining(`${old} is not used: it is go version go1.19.8 linux/amd64`)]);
  });

  test('finds none if there is none in PATH and none can be downloaded, and reports why', async () => {
    const { go, told } = await find([]);
    expect(go).toBeUndefined();
    expect(told.at(-1)).toMatch(/^no download of go1\.\S+: https:\/\/dl.google.com\/go\/\S+ cannot be reached$/);
  });
});

test.each([
  ['go version go1.21.0 linux/amd64', true],
  ['go version go2.0 linux/amd64', true],
  ['go version devel go1.27-abcdef linux/amd64', true],
  ['go version go1.20.14 linux/amd64', false],
  ['no such thing', false],
])('isRecentGo(%j) is %j', (output, recent) => {
  expect(isRecentGo(output)).toBe(recent);
});
