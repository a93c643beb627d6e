import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { stringify } from 'yaml';

import { BadReleaseError } from './asset-errors.ts';
import { parseReleaseMetadata } from './release-metadata.ts';

const written = `apiVersion: metadata.clusterstack.x-k8s.io/v1alpha1
versions:
  clusterStack: v0-sha.rwvgrna
  kubernetes: v1.30.10
  components:
    clusterAddon: v2
    nodeImage: v1
`;

describe('metadata.yaml', () => {
  test('has the versions of stack, Kubernetes, add-ons and node images', () => {
    expect(parseReleaseMetadata(written)).toEqual({
      clusterStack: 'v0-sha.rwvgrna',
      kubernetes: 'v1.30.10',
      clusterAddon: 'v2',
      nodeImage: 'v1',
    });
  });

  test.each([['nodeImage: ""'], ['nodeImage:'], ['']])('may have no version of node images: "%s"', (line) => {
    expect(parseReleaseMetadata(written.replace('nodeImage: v1', line))).not.toHaveProperty('nodeImage');
  });

  test('treats versions with a dash like those with a dot', () => {
    expect(parseReleaseMetadata(written.replace('v0-sha.rwvgrna', 'v0-sha-rwvgrna')).clusterStack).toBe(
      'v0-sha.rwvgrna',
    );
  });

  test.each([
    [
      'v1.30.10',
      '1.30',
      'metadata.yaml: versions.kubernetes is 1.3: use the full Kubernetes version, such as "v1.33.7", in quotes',
    ],
    ['v1.30.10', '"v1.30"', 'metadata.yaml: versions.kubernetes is "v1.30": use the full Kubernetes version'],
    [
      'clusterAddon: v2',
      'other: v2',
      'metadata.yaml: versions.components.clusterAddon is missing: use a version such as "v1"',
    ],
    ['v2', '../../v2', 'metadata.yaml: versions.components.clusterAddon is "../../v2": use a version such as "v1"'],
    ['components:', 'components: []', 'is not valid YAML: line'],
    [
      'v1alpha1',
      'v9',
      'metadata.yaml: apiVersion is "metadata.clusterstack.x-k8s.io/v9": only metadata.clusterstack.x-k8s.io/v1alpha1 is supported',
    ],
    [written, '[]', 'metadata.yaml: the document is []: it must be an object'],
    [written, '', 'metadata.yaml: versions.clusterStack is missing: use a version such as "v1"'],
    [written, 'a: 1\na: 2\n', 'metadata.yaml is not valid YAML: line 2, column 1: Map keys must be unique'],
    [written, 'a\n---\nb', 'metadata.yaml is not valid YAML: line 2, column 1: Source contains multiple documents'],
  ])('with "%s" replaced by "%s" is refused by name, value and remedy', (from, to, message) => {
    const parse = () => parseReleaseMetadata(written.replace(from, to));
    expect(parse).toThrow(BadReleaseError);
    expect(parse).toThrow(message);
  });

  test('of endless aliases is refused before it fills the memory', () => {
    const levels = Array.from({ length: 30 }, (_, i) => `l${i + 1}: &l${i + 1} [*l${i}, *l${i}, *l${i}]`);
    const bomb = `l0: &l0 [x]\n${levels.join('\n')}\n`;
    expect(() => parseReleaseMetadata(bomb)).toThrow(/Excessive alias count/);
    expect(() => parseReleaseMetadata(' '.repeat(64 * 1024 + 1))).toThrow('at most 65536 are allowed');
  });

  test('is read as it was written, for any versions', () => {
    const word = fc.stringMatching(/^\w{1,12}$/);
    const version = fc
      .tuple(fc.nat(), fc.option(fc.tuple(word, word)))
      .map(([n, suffix]) => (suffix === null ? `v${n}` : `v${n}-${suffix[0]}.${suffix[1]}`));
    const kubernetes = fc.tuple(fc.nat(), fc.nat(), fc.nat()).map((parts) => `v${parts.join('.')}`);
    fc.assert(
      fc.property(version, kubernetes, version, (clusterStack, kubernetesVersion, clusterAddon) => {
        const text = stringify({
          versions: { clusterStack, kubernetes: kubernetesVersion, components: { clusterAddon } },
        });
        expect(parseReleaseMetadata(text)).toEqual({ clusterStack, kubernetes: kubernetesVersion, clusterAddon });
      }),
    );
  });

  test('of any content is either read or refused as a bad release', () => {
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc.jsonValue().map((versions) => stringify({ versions })),
    );
    fc.assert(
      fc.property(texts, (text) => {
        try {
          parseReleaseMetadata(text);
        } catch (error) {
          expect(error).toBeInstanceOf(BadReleaseError);
        }
      }),
    );
  });
});
