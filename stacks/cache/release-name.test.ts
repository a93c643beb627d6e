import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { releaseFiles } from './release-files.ts';
import { parseReleaseName } from './release-name.ts';

describe('The name of a release', () => {
  test.each([
    ['docker-scs-1-30-v1', 'docker-scs-1-30', 'v1', ['docker-scs-1-30-v1']],
    [
      'docker-scs-1-30-v0-sha-rwvgrna',
      'docker-scs-1-30',
      'v0-sha.rwvgrna',
      ['docker-scs-1-30-v0-sha-rwvgrna', 'docker-scs-1-30-v0-sha.rwvgrna'],
    ],
    [
      'docker-scs-1-30-v0-ttl.1767',
      'docker-scs-1-30',
      'v0-ttl.1767',
      ['docker-scs-1-30-v0-ttl-1767', 'docker-scs-1-30-v0-ttl.1767'],
    ],
    [
      'openstack-hosted-control-plane-1-33-v2',
      'openstack-hosted-control-plane-1-33',
      'v2',
      ['openstack-hosted-control-plane-1-33-v2'],
    ],
    ['docker-v1-1-30-v2', 'docker-v1-1-30', 'v2', ['docker-v1-1-30-v2']],
  ])('%s is taken apart from behind, and looked for in every spelling', (name, stack, version, spellings) => {
    expect(parseReleaseName(name)).toEqual({ stack, version, spellings });
  });

  test.each([
    '',
    'docker-scs-1-30',
    '../docker-scs-1-30-v1',
    'docker-scs-1-30-v1/..',
    'docker-scs-1-30-v0-sha',
    'x'.repeat(300),
  ])('is not "%s"', (name) => {
    expect(() => parseReleaseName(name)).toThrow('is no name of a release, such as docker-scs-1-30-v1');
  });

  test('is the same in both spellings, whatever the words', () => {
    const word = fc.stringMatching(/^[a-z0-9]{1,9}$/);
    fc.assert(
      fc.property(fc.tuple(word, word), fc.nat(), fc.tuple(word, word), ([provider, stack], n, [a, b]) => {
        const prefix = `${provider}-${stack}-1-30-v${n}`;
        expect(parseReleaseName(`${prefix}-${a}-${b}`)).toEqual(parseReleaseName(`${prefix}-${a}.${b}`));
      }),
    );
  });
});

describe('The files of a release', () => {
  const name = parseReleaseName('docker-scs-1-30-v2');
  const find = (...files: string[]) => releaseFiles(['metadata.yaml', ...files], name, 'v1');

  test('are those of the exact names, also beside others', () => {
    expect(
      find(
        'docker-scs-1-30-cluster-class-v2.tgz',
        'docker-scs-1-30-cluster-class-v1.tgz',
        'docker-scs-1-30-cluster-addon-v1.tgz',
        'docker-scs-1-30-cluster-addon-v2.tgz',
        'clusteraddon.yaml',
      ),
    ).toEqual({
      metadata: 'metadata.yaml',
      clusterClass: 'docker-scs-1-30-cluster-class-v2.tgz',
      addonArchive: 'docker-scs-1-30-cluster-addon-v1.tgz',
      addonConfig: 'clusteraddon.yaml',
    });
  });

  test('are else those that the word is in', () => {
    expect(find('my-cluster-class.tgz', 'my-cluster-addon-values.yaml')).toEqual({
      metadata: 'metadata.yaml',
      clusterClass: 'my-cluster-class.tgz',
    });
  });

  test.each([
    [
      ['a-cluster-class.tgz', 'b-cluster-class.tgz'],
      'none of them is called docker-scs-1-30-cluster-class-v2.tgz: which one is meant?',
    ],
    [
      ['other.tgz'],
      'has no docker-scs-1-30-cluster-class-v2.tgz, the chart of its ClusterClass; it has metadata.yaml, other.tgz',
    ],
    [
      ['a-cluster-class.tgz', 'clusteraddon.yaml'],
      'has a clusteraddon.yaml and no docker-scs-1-30-cluster-addon-v1.tgz',
    ],
  ])('%s are refused', (files, message) => {
    expect(() => find(...files)).toThrow(message);
  });
});
