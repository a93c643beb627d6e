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
  ])('%s is parsed from its end, and has all spellings', (name, stack, version, spellings) => {
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
    expect(() => parseReleaseName(name)).toThrow('is not a release name: use a name such as docker-scs-1-30-v1');
  });

  test('is the same in both spellings, for any words', () => {
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

  test('are found by their exact names, also next to similar ones', () => {
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

  test('are otherwise found by the word that they contain', () => {
    expect(find('my-cluster-class.tgz', 'my-cluster-addon-values.yaml')).toEqual({
      metadata: 'metadata.yaml',
      clusterClass: 'my-cluster-class.tgz',
    });
  });

  test.each([
    [
      ['a-cluster-class.tgz', 'b-cluster-class.tgz'],
      'but no docker-scs-1-30-cluster-class-v2.tgz: rename the one that is meant',
    ],
    [
      ['other.tgz'],
      'contains no docker-scs-1-30-cluster-class-v2.tgz (the chart of its ClusterClass), only metadata.yaml, other.tgz',
    ],
    [
      ['a-cluster-class.tgz', 'clusteraddon.yaml'],
      'contains a clusteraddon.yaml, but no docker-scs-1-30-cluster-addon-v1.tgz',
    ],
  ])('%s are refused', (files, message) => {
    expect(() => find(...files)).toThrow(message);
  });
});
