import path from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { kubernetesReleases } from '../../../e2e/tools/kubernetes-releases.ts';
import { commandsPage } from './commands-page.ts';
import { imagesOfVersion } from './image-list.ts';
import { imagePages } from './image-pages.ts';
import { quickStartImages } from './quick-start-images.ts';
import { supportedVersionsPage } from './supported-versions-page.ts';

const root = path.join(import.meta.dirname, '../../..');

describe('The list of images', () => {
  const pages = imagePages('1.2.3', quickStartImages(root));
  const lines = (pages.get('docs/reference/generated/images.txt') ?? '').trim().split('\n');

  test('has a host, a path and a version for every image, and what needs it', () => {
    const odd = lines.filter((line) => !/^[\w.-]+\.[\w.-]+\/[\w./-]+:\S+\t\S/.test(line));
    // Its tag has no default: the author of a tenant sets it.
    expect(odd).toEqual(['ghcr.io/butlerdotdev/steward-trustd\tworkerBootstrap']);
    expect(new Set(lines).size).toBe(lines.length);
  });

  test('has Steward, the datastores, and all programs of every tested minor', () => {
    expect(lines).toContain('ghcr.io/butlerdotdev/steward:v1.2.3\tSteward');
    expect(lines.filter((line) => line.includes('\tquick start of '))).toHaveLength(4);
    for (const { version, minor } of kubernetesReleases) {
      expect(lines).toContain(`registry.k8s.io/kube-apiserver:${version}\t${minor}`);
      expect(lines.filter((line) => line.endsWith(`\t${minor}`))).toHaveLength(8);
    }
  });

  test('follows the version of a control plane', () => {
    expect(imagesOfVersion('v1.34.9').map(({ image }) => image)).toEqual([
      'registry.k8s.io/kube-apiserver:v1.34.9',
      'registry.k8s.io/kube-controller-manager:v1.34.9',
      'registry.k8s.io/kube-scheduler:v1.34.9',
      'registry.k8s.io/coredns/coredns:v1.12.1',
      'registry.k8s.io/kube-proxy:v1.34.9',
      'registry.k8s.io/kas-network-proxy/proxy-server:v0.34.0',
      'registry.k8s.io/kas-network-proxy/proxy-agent:v0.34.0',
      'registry.k8s.io/pause:3.10.1',
    ]);
  });
});

test('The page about versions names every tested minor of Kubernetes', () => {
  const page = supportedVersionsPage();
  for (const { version } of kubernetesReleases) expect(page).toContain(version);
  expect(page).not.toContain('undefined');
});

test('The page about commands counts those that tests run, and says why the others are not', () => {
  const page =
    '# A\n## Go\n<!-- run by e2e/x.test.ts -->\n```console\na | b\n```\n<!-- not run: no cloud -->\n```console\nc\n```\n';
  const [file, text] = commandsPage(new Map([['docs/how-to/a.md', page]]));
  expect(file).toBe('docs/reference/generated/commands.md');
  expect(text).toContain('run 1 of the 2 blocks');
  expect(text).toContain('| [a](../../how-to/a.md) | Go | `a \\| b` | [x.test.ts](../../../e2e/x.test.ts) |');
  expect(text).toContain('| `c` | not run: no cloud |');
});
