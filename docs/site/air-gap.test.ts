import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { expect, test } from '@jest/globals';

import { consoleBlocks } from '../../e2e/framework/console-blocks.ts';

const root = path.join(import.meta.dirname, '../..');

test('The command of the page about air gaps selects the images of Steward, etcd and the minors that it names', async () => {
  const page = await readFile(path.join(root, 'docs/how-to/air-gap.md'), 'utf8');
  const [block] = consoleBlocks(page);
  const folder = await mkdtemp(path.join(tmpdir(), 'air-gap-'));
  try {
    await symlink(path.join(root, 'docs'), path.join(folder, 'docs'));
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', block?.commands ?? ''], { cwd: folder });
    const images = (await readFile(path.join(folder, 'images.txt'), 'utf8')).trim().split('\n');
    expect(images).toEqual(
      expect.arrayContaining([expect.stringMatching(/^ghcr\.io\/butlerdotdev\/steward:v[\d.]+$/)]),
    );
    expect(images.filter((image) => image.startsWith('registry.k8s.io/kube-apiserver:'))).toEqual([
      expect.stringMatching(/:v1\.36\.\d+$/),
      expect.stringMatching(/:v1\.35\.\d+$/),
    ]);
    expect(images.filter((image) => image.includes('/etcd:'))).toHaveLength(1);
    expect(images.filter((image) => /postgres|mariadb|nats/.test(image))).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
