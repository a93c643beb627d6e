import { mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { programImage } from './image-contents.ts';
import { imageArchive, kubeadmImageName } from './images.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'images-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('kubeadmImageName', () => {
  const list =
    'registry.k8s.io/kube-proxy:v1.36.3\nregistry.k8s.io/coredns/coredns:v1.14.2\nregistry.k8s.io/pause:3.10.2\n';

  test('finds an image by the end of its path, however deep it lies', () => {
    expect(kubeadmImageName(list, 'coredns')).toBe('registry.k8s.io/coredns/coredns:v1.14.2');
    expect(kubeadmImageName('localhost:5000/k8s/pause:3.9\n', 'pause')).toBe('localhost:5000/k8s/pause:3.9');
  });

  test('refuses a list without the image and prints the list', () => {
    expect(() => kubeadmImageName(list, 'etcd')).toThrow(
      /names no image of etcd; it names registry.k8s.io\/kube-proxy:v1.36.3, /,
    );
  });
});

describe('imageArchive', () => {
  test('is written once, and again when a file in it changed', async () => {
    const source = join(folder, 'program');
    await writeFile(source, 'one');
    const image = programImage(['example.test/program:v1'], 'amd64', { program: source });
    const told: string[] = [];
    const make = () => imageArchive(image, join(folder, 'cache'), (line) => told.push(line));
    const first = await make();
    expect((await make()).path).toBe(first.path);
    expect(told).toHaveLength(1);
    await utimes(source, new Date(0), new Date(0));
    const second = await make();
    expect(second.path).not.toBe(first.path);
    expect((await stat(second.path)).size).toBe((await stat(first.path)).size);
    expect(second).toMatchObject({ name: 'example.test/program:v1', names: ['example.test/program:v1'] });
  });
});
