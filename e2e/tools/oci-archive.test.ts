import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { layerEntries, writeImageArchive } from './oci-archive.ts';
import type { ImageDescription } from './oci-archive.ts';

interface Descriptor {
  readonly digest: string;
  readonly size: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

const image: ImageDescription = {
  names: ['registry.k8s.io/etcd:3.6.8-0', 'registry.k8s.io/etcd:3.6.16-0'],
  architecture: 'amd64',
  layers: [
    [{ kind: 'text', path: '/usr/local/bin/etcd', text: 'binary', mode: 0o755 }],
    [{ kind: 'symlink', path: 'bin/etcd', target: '/usr/local/bin/etcd' }],
  ],
  entrypoint: ['etcd'],
  command: ['--help'],
  environment: { HOME: '/' },
  user: '65532:65532',
  labels: { 'org.opencontainers.image.version': '3.6.16' },
};

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oci-archive-'));
});
afterEach(() => rm(folder, { recursive: true }));

const blob = async (digest: string): Promise<Buffer> =>
  readFile(join(folder, 'out', 'blobs', digest.replace(':', '/')));
const json = async <T>(digest: string): Promise<T> => JSON.parse((await blob(digest)).toString()) as T;

const unpacked = async (): Promise<readonly Descriptor[]> => {
  const path = join(folder, 'image.tar');
  await writeImageArchive(image, path);
  await mkdir(join(folder, 'out'));
  execFileSync('tar', ['-xf', path, '-C', join(folder, 'out')]);
  const index = JSON.parse(await readFile(join(folder, 'out', 'index.json'), 'utf8')) as { manifests: Descriptor[] };
  return index.manifests;
};

describe('writeImageArchive', () => {
  test('contains every blob with its checksum and its size', async () => {
    const [manifest] = await unpacked();
    for (const name of await readdir(join(folder, 'out', 'blobs', 'sha256'))) {
      expect(
        createHash('sha256')
          .update(await blob(`sha256:${name}`))
          .digest('hex'),
      ).toBe(name);
    }
    const { layers, config } = await json<{ layers: Descriptor[]; config: Descriptor }>(manifest?.digest ?? '');
    for (const each of [...layers, config]) expect((await blob(each.digest)).length).toBe(each.size);
    expect(layers).toHaveLength(2);
    const { rootfs } = await json<{ rootfs: { diff_ids: string[] } }>(config.digest);
    expect(rootfs.diff_ids).toEqual(layers.map((layer) => layer.digest));
  });

  test('lists one manifest under every name, for containerd to import', async () => {
    const manifests = await unpacked();
    expect(manifests.map((each) => each.annotations?.['io.containerd.image.name'])).toEqual(image.names);
    expect(new Set(manifests.map((each) => each.digest)).size).toBe(1);
  });

  test('contains how to run the image', async () => {
    const [manifest] = await unpacked();
    const { config } = await json<{ config: Descriptor }>(manifest?.digest ?? '');
    expect(await json<object>(config.digest)).toMatchObject({
      architecture: 'amd64',
      os: 'linux',
      config: {
        Entrypoint: ['etcd'],
        Cmd: ['--help'],
        Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/'],
        User: '65532:65532',
        WorkingDir: '/',
        Labels: { 'org.opencontainers.image.version': '3.6.16' },
      },
    });
  });

  test('writes the same bytes for the same description', async () => {
    const paths = [join(folder, 'a.tar'), join(folder, 'b.tar')];
    for (const path of paths) await writeImageArchive(image, path);
    const [a, b] = await Promise.all(paths.map((path) => readFile(path)));
    expect(a).toEqual(b);
  });
});

describe('layerEntries', () => {
  test('adds parent folders before their content and keeps the properties of a given folder', () => {
    const entries = layerEntries([
      { kind: 'text', path: 'a/b/c', text: '' },
      { kind: 'folder', path: '/a/', mode: 0o700 },
    ]);
    expect(entries.map(({ path, mode }) => [path, mode])).toEqual([
      ['a', 0o700],
      ['a/b', undefined],
      ['a/b/c', undefined],
    ]);
  });

  test('refuses a path that leaves the image', () => {
    expect(() => layerEntries([{ kind: 'text', path: '../etc/passwd', text: '' }])).toThrow(
      '"../etc/passwd" is no path inside an image',
    );
  });
});
