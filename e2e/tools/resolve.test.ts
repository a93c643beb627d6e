import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DownloadError } from './downloads.ts';
import type { DownloadFailure } from './downloads.ts';
import { toolPin } from './pins.ts';
import type { ToolPin } from './pins.ts';
import { missingTools, pinnedModules, resolveTools } from './resolve.ts';
import type { ToolSources } from './resolve.ts';

const kine = toolPin('kine');

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'resolve-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** A binary is a file that holds the version that it "prints". */
const put = async (bin: string, name: string, version: string): Promise<string> => {
  await mkdir(join(folder, bin), { recursive: true });
  const path = join(folder, bin, name);
  await writeFile(path, version);
  await chmod(path, 0o755);
  return path;
};

interface World {
  readonly binFolders?: readonly string[];
  /** What a download holds, or how it fails. */
  readonly download?: { readonly text: string } | { readonly failure: DownloadFailure };
  readonly go?: boolean;
}

/** Fake ways to a binary that write down which of them were gone. */
const world = ({ binFolders = [], download = { failure: 'unreachable' }, go = false }: World = {}) => {
  const went: string[] = [];
  const sources: ToolSources = {
    environment: {
      platform: { os: 'linux', arch: 'amd64' },
      binFolders: binFolders.map((bin) => join(folder, bin)),
      cacheFolder: join(folder, 'cache'),
      variables: {},
    },
    modules: pinnedModules,
    printedVersion: (binary) => readFile(binary, 'utf8'),
    downloads: {
      async fetch({ url }, path) {
        went.push(`download ${url}`);
        if ('failure' in download) throw new DownloadError(download.failure, `no ${url}`);
        await writeFile(path, download.text);
        return 'sum';
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    },
    async build(pins: readonly ToolPin[], into: string) {
      const names = pins.map((pin) => pin.name);
      went.push(`build ${names.join(' ')}`);
      if (!go) throw new Error('install Go');
      for (const name of names) await writeFile(join(into, `${name}-built`), 'built');
      return new Map(names.map((name) => [name, join(into, `${name}-built`)]));
    },
  };
  const told: string[] = [];
  const resolve = <Name extends string>(names: readonly Name[]) =>
    resolveTools(names, { sources, progress: (line) => told.push(line) });
  return { sources, resolve, went, told };
};

describe('resolveTools', () => {
  test('uses the first folder whose binary prints the pinned version', async () => {
    await put('assets', 'kine', 'v0.1.0');
    const right = await put('path', 'kine', kine.source.version);
    const { resolve, went, told } = world({ binFolders: ['assets', 'path'] });
    expect(await resolve(['kine'])).toEqual({ kine: right });
    expect(went).toEqual([]);
    expect(told).toEqual([
      `${join(folder, 'assets', 'kine')} is not used: it says v0.1.0, pinned is ${kine.source.version}`,
    ]);
  });

  test('uses the cached binary instead of one that does not print its version', async () => {
    await put('path', 'pause', 'v1.0.0');
    const { resolve, went } = world({ binFolders: ['path'], go: true });
    const { pause } = await resolve(['pause']);
    expect(pause).toBe(join(folder, 'cache', 'pause', 'v1.0.0', 'linux-amd64', 'pause'));
    expect(went).toEqual(['build pause']);
  });

  test('downloads before it builds, and keeps the download', async () => {
    const first = world({ download: { text: 'binary' } });
    const { kine: path } = await first.resolve(['kine']);
    expect(await readFile(path, 'utf8')).toBe('binary');
    expect(first.went).toEqual([expect.stringContaining('download https://github.com/k3s-io/kine/')]);
    const second = world();
    expect(await second.resolve(['kine'])).toEqual({ kine: path });
    expect(second.went).toEqual([]);
  });

  test('builds what cannot be downloaded, all of one module together, and leaves no scratch files', async () => {
    const { resolve, went, told } = world({ go: true });
    const paths = await resolve(['kubelet', 'kubeadm']);
    expect(await readFile(paths.kubelet, 'utf8')).toBe('built');
    expect(went.at(-1)).toBe('build kubelet kubeadm');
    expect(told.some((line) => /^built kubelet, kubeadm v1.36.3 from k8s.io\/kubernetes … \d+ s$/.test(line))).toBe(
      true,
    );
    expect(await readdir(join(folder, 'cache', 'tmp'))).toEqual([]);
    expect(await readdir(join(folder, 'cache', 'locks'))).toEqual([]);
  });

  test('reports that a download does not match its checksum, and builds instead', async () => {
    const { resolve, told } = world({ download: { failure: 'checksum' }, go: true });
    const { kine: path } = await resolve(['kine']);
    expect(await readFile(path, 'utf8')).toBe('built');
    expect(told.some((line) => line.startsWith('REFUSED: '))).toBe(true);
  });

  test('creates a tool once for two concurrent requests', async () => {
    const { resolve, went } = world({ go: true });
    const [one, two] = await Promise.all([resolve(['kine']), resolve(['kine'])]);
    expect(one).toEqual(two);
    expect(went.filter((way) => way.startsWith('build'))).toEqual(['build kine']);
  });

  test('builds again when the recipe of a cached build has changed', async () => {
    const { resolve, went } = world({ go: true });
    const { kine: path } = await resolve(['kine']);
    await writeFile(join(path, '..', 'origin.json'), JSON.stringify({ builtFrom: 'another recipe' }));
    await resolve(['kine']);
    expect(went.filter((way) => way.startsWith('build'))).toHaveLength(2);
  });

  test('fails with the reason if all ways fail, and leaves nothing incomplete', async () => {
    const { resolve } = world();
    await expect(resolve(['kine'])).rejects.toThrow('install Go');
    expect(existsSync(join(folder, 'cache', 'kine'))).toBe(false);
    expect(await readdir(join(folder, 'cache', 'locks'))).toEqual([]);
  });

  test('refuses a name that is not pinned before it does anything', async () => {
    const { resolve, went } = world();
    await expect(resolve(['kine', 'kubectx'])).rejects.toThrow('"kubectx" is no pinned tool');
    expect(went).toEqual([]);
  });
});

test('reports tools that are nowhere without downloading or building them', async () => {
  await put('bin', 'kine', kine.source.version);
  const { sources, went } = world({ binFolders: ['bin'], go: true });
  const helm = toolPin('helm');
  expect(await missingTools(['kine', 'helm'], { sources })).toEqual([`helm ${helm.source.version}`]);
  expect(went).toEqual([]);
});
