import { describe, expect, test } from '@jest/globals';
import { stackTree } from '../../../testing/worlds/stacks/stack-tree.ts';
import { buildRelease } from './build-release.ts';
import { customVersions, hashVersions, newestStable, stableVersions } from './choose-versions.ts';
import { readRelease } from './known-release.ts';
import type { KnownRelease } from './known-release.ts';
import { readSource } from './source-tree.ts';

const source = (changes: Readonly<Record<string, string | undefined>> = {}) => readSource(stackTree(changes));

function released(changes: Readonly<Record<string, string | undefined>> = {}): KnownRelease {
  const built = buildRelease(source(changes), { clusterStack: 'v9', clusterAddon: 'v4', nodeImage: 'v2' });
  return readRelease(built.files, built.name);
}

describe('Mode stable', () => {
  test('begins with v1', () => {
    expect(stableVersions(source(), undefined)).toEqual({ clusterStack: 'v1', clusterAddon: 'v1', nodeImage: 'v1' });
  });

  test('increments the stack if only the cluster class changed, and keeps the add-ons (csctl refused that)', () => {
    const changed = source({ 'cluster-class/values.yaml': 'images: other.example\n' });
    expect(stableVersions(changed, released())).toEqual({ clusterStack: 'v10', clusterAddon: 'v4', nodeImage: 'v2' });
  });

  test.each([
    ['a file of a stage', { 'cluster-addon/cni/values.yaml': 'a: b\n' }],
    ['a stage less', { 'cluster-addon/metrics/metrics.yaml': undefined }],
    [
      'the order of stages',
      { 'clusteraddon.yaml': 'addonStages:\n  AfterControlPlaneInitialized:\n    - {name: cni, action: apply}\n' },
    ],
  ])('increments the add-ons for %s', (_, changes) => {
    expect(stableVersions(source(changes), released())).toMatchObject({ clusterStack: 'v10', clusterAddon: 'v5' });
  });

  test('increments node images if they changed', () => {
    expect(stableVersions(source({ 'node-image/image.sh': 'x' }), released())).toMatchObject({ nodeImage: 'v3' });
  });

  test('refuses if nothing changed', () => {
    expect(() => stableVersions(source(), released())).toThrow('nothing changed since docker-steward-1-33-v9');
  });
});

describe('The newest stable release', () => {
  test('is the one with the highest number of this stack and minor', () => {
    const tags = [
      'docker-steward-1-33-v2',
      'docker-steward-1-33-v10',
      'docker-steward-1-33-v9',
      'docker-steward-1-34-v11',
    ];
    expect(newestStable('docker-steward-1-33', tags)).toBe('docker-steward-1-33-v10');
  });

  test('is found among unrelated tags (csctl stopped at the first one)', () => {
    const tags = [
      'latest',
      'sha256-abc.sig',
      'v1',
      'a-b-c-d-e-f-g-h',
      'docker-steward-1-33-v1',
      'docker-steward-1-33-v0-sha-abc',
      'docker-steward-1-33-vx',
    ];
    expect(newestStable('docker-steward-1-33', tags)).toBe('docker-steward-1-33-v1');
  });

  test('may not exist', () => {
    expect(newestStable('docker-steward-1-33', ['docker-steward-hosted-1-33-v1'])).toBeUndefined();
  });
});

test('Mode hash uses one version for everything, derived from the content', () => {
  const { clusterStack, clusterAddon } = hashVersions(source());
  expect(clusterStack).toMatch(/^v0-sha\.[a-z0-9]{7}$/);
  expect(clusterAddon).toBe(clusterStack);
  expect(hashVersions(source({ 'cluster-class/values.yaml': 'x: y\n' })).clusterStack).not.toBe(clusterStack);
});

test('Mode custom accepts versions in both spellings, and refuses an invalid one', () => {
  const given = { clusterStack: 'v0-alpha-3', clusterAddon: 'v2', nodeImage: '' };
  expect(customVersions(given)).toEqual({ clusterStack: 'v0-alpha.3', clusterAddon: 'v2', nodeImage: 'v0-alpha.3' });
  expect(() => customVersions({ ...given, clusterAddon: '2.0' })).toThrow(
    '--cluster-addon-version is "2.0"; use a version such as v1',
  );
});
