import { describe, expect, test } from '@jest/globals';
import type { ClusterStackRelease } from '../api/cluster-stack-release.ts';
import { ClusterStackObjects } from '../../testing/builders/cluster-stack-objects.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { clusterStackAdmissions } from './cluster-stack-admissions.ts';
import { clusterStackSource } from './cluster-stack-source.ts';

describe('The manager’s source of cluster stacks', () => {
  test.each([
    [{}, undefined],
    [{ OCI_REPOSITORY: 'r.example.com/a' }, { type: 'oci', repository: 'r.example.com/a' }],
    [
      { OCI_REGISTRY: 'r.example.com', OCI_REPOSITORY: 'r.example.com/a' },
      { type: 'oci', repository: 'r.example.com/a' },
    ],
    [
      { OCI_REGISTRY: 'r.example.com', OCI_REPOSITORY: 'a/b' },
      { type: 'oci', repository: 'r.example.com/a/b' },
    ],
    [
      { OCI_REPOSITORY: 'r/a', OCI_USERNAME: 'u', OCI_PASSWORD: 'p', GIT_ORG_NAME: 'o', GIT_REPOSITORY_NAME: 'n' },
      { type: 'oci', repository: 'r/a', credentials: { username: 'u', password: 'p' } },
    ],
    [
      { OCI_REPOSITORY: 'r/a', OCI_ACCESS_TOKEN: 't' },
      { type: 'oci', repository: 'r/a', credentials: { token: 't' } },
    ],
    [
      { GIT_ORG_NAME: 'o', GIT_REPOSITORY_NAME: 'n', GIT_ACCESS_TOKEN: 't' },
      { type: 'github', repository: 'o/n', token: 't' },
    ],
    [{ GIT_ORG_NAME: 'o' }, undefined],
  ])('is for %j %j', (environment, address) => {
    expect(clusterStackSource(environment, '').address).toEqual(address);
  });

  test('includes the folder that directories must be below', () => {
    expect(clusterStackSource({}, '/stacks')).toEqual({ folder: '/stacks' });
  });
});

describe('The deletion of a release', () => {
  const cluster = new FakeCluster();
  const make = new ClusterStackObjects(cluster);
  const ask = (oldObject: ClusterStackRelease) => {
    const path = '/validate-clusterstack-x-k8s-io-v1alpha1-clusterstackrelease';
    const kind = { group: 'clusterstack.x-k8s.io', version: 'v1alpha1', kind: 'ClusterStackRelease' };
    const { signal } = new AbortController();
    return clusterStackAdmissions(cluster)[path]?.({ uid: '1', kind, operation: 'DELETE', oldObject }, { signal });
  };

  test('is refused while a Cluster of another namespace uses its class, with field, value, reason and fix', async () => {
    const release = await make.release('docker-scs-1-30-v0-sha-abc');
    expect(await ask(release)).toEqual({ allowed: true });
    await make.capiCluster('a', 'docker-scs-1-30-v0-sha.abc', 'team');
    expect(await ask(release)).toEqual({
      allowed: false,
      message:
        'metadata.name "docker-scs-1-30-v0-sha-abc" cannot be deleted: its ClusterClass is used by team/a: move these Clusters to the ClusterClass of another release, or delete them first',
    });
  });
});
