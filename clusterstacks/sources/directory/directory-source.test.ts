import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { releaseFiles } from '../../../testing/worlds/stacks/stack-release.ts';
import { BadReleaseError, ReleaseNotFoundError, SourceUnavailableError } from '../asset-errors.ts';
import { defaultAssetLimits } from '../asset-limits.ts';
import { DirectorySource } from './directory-source.ts';

const never = new AbortController().signal;
const tag = 'docker-scs-1-30-v1';
let root = '';
let target = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'releases-'));
  target = await mkdtemp(join(tmpdir(), 'loaded-'));
});
afterEach(async () => {
  await rm(root, { recursive: true, force: true });
  await rm(target, { recursive: true, force: true });
});

async function put(folder: string, files: Readonly<Record<string, Uint8Array>> = releaseFiles()): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes);
}

describe('A folder of releases', () => {
  test('lists folders with a metadata.yaml, in itself and in cluster-stacks, as the Go operator keeps them', async () => {
    await put(join(root, tag));
    await put(join(root, 'cluster-stacks', 'docker-scs-1-30-v2'), releaseFiles({ version: 'v2' }));
    await mkdir(join(root, 'empty'));
    await writeFile(join(root, 'notes.txt'), '');
    const source = new DirectorySource({ path: root });
    await expect(source.list(never)).resolves.toEqual([{ tag }, { tag: 'docker-scs-1-30-v2' }]);
    const { digest } = await source.resolve('docker-scs-1-30-v2', never);
    await source.load({ tag: 'docker-scs-1-30-v2', digest }, target, never);
    expect(await readdir(target)).toContain('docker-scs-1-30-cluster-class-v2.tgz');
  });

  test('has the same digest for the same content wherever it is, and another for a changed byte or name', async () => {
    const digests = new Set<string>();
    const digestIn = async (name: string, files: Readonly<Record<string, Uint8Array>>) => {
      await put(join(root, name, tag), files);
      return (await new DirectorySource({ path: join(root, name) }).resolve(tag, never)).digest;
    };
    const first = await digestIn('a', releaseFiles());
    expect(first).toMatch(/^sha256:[0-9a-f]{64}$/);
    await expect(digestIn('b', releaseFiles())).resolves.toBe(first);
    digests.add(first);
    digests.add(await digestIn('c', { ...releaseFiles(), 'hashes.json': Buffer.from('x') }));
    digests.add(await digestIn('d', { ...releaseFiles(), 'other.json': Buffer.from('') }));
    expect(digests.size).toBe(3);
  });

  test('is refused when its content does not match the requested digest', async () => {
    await put(join(root, tag));
    const source = new DirectorySource({ path: root });
    const { digest } = await source.resolve(tag, never);
    await writeFile(join(root, tag, 'hashes.json'), 'moved');
    const failure = source.load({ tag, digest }, target, never);
    await expect(failure).rejects.toThrow(BadReleaseError);
    await expect(failure).rejects.toThrow(`has changed: its digest is sha256:`);
  });

  test('is loaded as files that are not executable', async () => {
    await put(join(root, tag));
    const source = new DirectorySource({ path: root });
    await source.load({ tag, ...(await source.resolve(tag, never)) }, target, never);
    const { mode } = await stat(join(target, 'metadata.yaml'));
    expect(mode & 0o600).toBe(0o600);
    expect(mode & 0o7111).toBe(0);
  });

  test('may be the volume of a ConfigMap, which consists of links', async () => {
    await put(join(root, tag, '..2026'));
    await symlink('..2026', join(root, tag, '..data'));
    for (const name of Object.keys(releaseFiles())) await symlink(join('..data', name), join(root, tag, name));
    const source = new DirectorySource({ path: root });
    await source.load({ tag, ...(await source.resolve(tag, never)) }, target, never);
    expect((await readdir(target)).sort()).toEqual(Object.keys(releaseFiles()).sort());
  });

  test('is not read through links that lead outside', async () => {
    const source = new DirectorySource({ path: root });
    await put(join(root, tag));
    await symlink('/etc/passwd', join(root, tag, 'hosts.txt'));
    await expect(source.resolve(tag, never)).rejects.toThrow('hosts.txt is a link that points outside the release');
    await symlink(target, join(root, 'out'));
    await writeFile(join(target, 'metadata.yaml'), '');
    await expect(source.resolve('out', never)).rejects.toThrow(ReleaseNotFoundError);
    await expect(source.resolve(`../${basename(target)}`, never)).rejects.toThrow(BadReleaseError);
  });

  test('is bounded in files and bytes', async () => {
    await put(join(root, tag));
    const limited = (limits: object) =>
      new DirectorySource({ path: root, limits: { ...defaultAssetLimits, ...limits } });
    await expect(limited({ maxFiles: 4 }).resolve(tag, never)).rejects.toThrow('has 5 files; at most 4 are allowed');
    await expect(limited({ maxReleaseBytes: 100 }).resolve(tag, never)).rejects.toThrow('is too large');
    await mkdir(join(root, tag, 'sub'));
    await expect(limited({}).resolve(tag, never)).rejects.toThrow(
      'sub is not a file; a release must be a flat folder of files',
    );
  });

  test('that does not exist, or does not contain the release, is reported', async () => {
    await expect(new DirectorySource({ path: join(root, 'x') }).list(never)).rejects.toThrow(SourceUnavailableError);
    await expect(new DirectorySource({ path: join(root, 'x') }).list(never)).rejects.toThrow('folder does not exist');
    await expect(new DirectorySource({ path: root }).resolve(tag, never)).rejects.toThrow(
      `has no folder ${tag} with a metadata.yaml`,
    );
  });
});
