import { expect, test } from '@jest/globals';
import { stackTree } from '../../../testing/worlds/stacks/stack-tree.ts';
import { buildRelease } from './build-release.ts';
import { readRelease } from './known-release.ts';
import type { KnownRelease } from './known-release.ts';
import { lintRelease } from './lint-release.ts';
import { readSource } from './source-tree.ts';

function release(
  clusterStack: string,
  clusterAddon: string,
  changes: Readonly<Record<string, string>> = {},
): KnownRelease {
  const built = buildRelease(readSource(stackTree(changes)), { clusterStack, clusterAddon, nodeImage: 'v1' });
  return readRelease(built.files, built.name);
}

const otherStage = { 'cluster-addon/cni/values.yaml': 'a: b\n' };

test('Add-ons that changed without a new version are found, because no cluster would get them', async () => {
  expect(await lintRelease(release('v3', 'v1', otherStage), [release('v2', 'v1')])).toEqual([
    {
      where: 'docker-steward-1-33-v3',
      problem:
        'add-ons v1 changed since docker-steward-1-33-v2 (cluster-addon/cni/values.yaml is added) but has the same version; use the next version',
    },
  ]);
});

test('A class that changed without a new version of the stack is found', async () => {
  const changed = release('v2', 'v1', { 'cluster-class/values.yaml': 'x: y\n' });
  const [finding] = await lintRelease(changed, [release('v2', 'v1')]);
  expect(finding?.problem).toContain(
    'the cluster stack v2 changed since docker-steward-1-33-v2 (cluster-class/values.yaml is changed)',
  );
});

test('Layers that are unchanged under one version, or changed under another, are accepted', async () => {
  const others = [release('v1', 'v1'), release('v2', 'v1')];
  expect(await lintRelease(release('v3', 'v2', otherStage), others)).toEqual([]);
  expect(await lintRelease(release('v3', 'v1'), others)).toEqual([]);
});
