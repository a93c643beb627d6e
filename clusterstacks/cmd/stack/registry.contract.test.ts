import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { RunningRegistry } from '../../../release/running-registry.ts';
import { stackTree } from '../../../testing/worlds/stacks/stack-tree.ts';
import { openRepository } from './open-repository.ts';
import { runStack } from './run-stack.ts';

let folder = '';
let printed: string[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stack-'));
  printed = [];
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function writeTree(changes: Readonly<Record<string, string>> = {}): Promise<string> {
  const tree = join(folder, 'tree');
  for (const [path, bytes] of stackTree(changes)) {
    await mkdir(dirname(join(tree, path)), { recursive: true });
    await writeFile(join(tree, path), bytes);
  }
  return tree;
}

test('Releases are pushed to a real registry, and versions are counted from its content', async () => {
  await using registry = await RunningRegistry.start(join(folder, 'registry'));
  const stack = (...args: readonly string[]): Promise<number> =>
    runStack([...args, `--repository=${registry.host}/kaas/stacks`, '--plain-http'], {
      environment: {},
      print: (line) => printed.push(line),
      now: () => new Date('2026-11-22T10:00:00Z'),
      signal: new AbortController().signal,
      open: openRepository,
    });
  const tree = await writeTree();
  const out = join(folder, 'out');
  const release = (version: string): string => join(out, `docker-steward-1-33-${version}`);

  // A registry does not know a repository before the first push to it.
  expect(await stack('build', tree, `--output=${out}`)).toBe(1);
  expect(printed.at(-1)).toContain(
    'build the first release of a repository with --mode=custom --cluster-stack-version=v1',
  );
  expect(await stack('build', tree, `--output=${out}`, '--mode=custom', '--cluster-stack-version=v1')).toBe(0);
  expect(await stack('push', release('v1'))).toBe(0);
  expect(printed.at(-1)).toMatch(/^127\.0\.0\.1:\d+\/kaas\/stacks:docker-steward-1-33-v1 sha256:[0-9a-f]{64}$/);
  expect(await stack('push', release('v1'))).toBe(0);
  expect(printed.at(-1)).toMatch(/\(already existed\)$/);
  expect(await stack('diff', tree)).toBe(0);

  await writeTree({ 'cluster-addon/cni/values.yaml': 'a: b\n' });
  expect(await stack('diff', tree)).toBe(1);
  expect(printed.slice(-2)).toEqual(['cluster-addon/cni:', '  + values.yaml']);
  expect(await stack('build', tree, `--output=${out}`)).toBe(0);
  expect(printed.at(-2)).toBe('docker-steward-1-33-v2: Kubernetes v1.33.1, stack v2, add-ons v2');
  expect(await stack('lint', release('v2'))).toBe(0);
  expect(await stack('push', release('v2'))).toBe(0);
});
