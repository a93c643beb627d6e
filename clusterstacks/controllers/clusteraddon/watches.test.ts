import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import type { ClusterStackRelease, ClusterStackReleaseStatus } from '../../api/cluster-stack-release.ts';
import { clusterAddonName } from '../../api/names.ts';
import { addonsOfRelease } from './watches.ts';

const user: CapiCluster = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: storedMeta({ namespace: 'team', name: 'a' }),
  spec: { topology: { classRef: { name: 'docker-scs-1-30-v1', namespace: 'stacks' } } },
};
const release = (status: ClusterStackReleaseStatus, resourceVersion = '1'): ClusterStackRelease => ({
  apiVersion: 'clusterstack.x-k8s.io/v1alpha1',
  kind: 'ClusterStackRelease',
  metadata: storedMeta({ namespace: 'stacks', name: 'docker-scs-1-30-v1', uid: 'u', resourceVersion }),
  spec: {},
  status,
});
const addonsEnqueuedBy = addonsOfRelease({ clusters: () => [user], classes: () => [] });
const itsAddon = [{ namespace: 'team', name: clusterAddonName('a') }];

describe('The ClusterAddon of a Cluster', () => {
  test('is reconciled when the release of its Cluster is created, becomes ready, or is deleted', () => {
    expect(addonsEnqueuedBy(undefined, release({ ready: false }))).toEqual(itsAddon);
    expect(addonsEnqueuedBy(release({ ready: false }), release({ ready: true }))).toEqual(itsAddon);
    expect(addonsEnqueuedBy(release({ ready: true }), undefined)).toEqual(itsAddon);
  });

  test('is not reconciled for other changes of the release', () => {
    expect(addonsEnqueuedBy(release({ ready: true }), release({ ready: true, observedGeneration: 2 }, '2'))).toEqual(
      [],
    );
  });

  test('is not reconciled for a release that its Cluster does not use', () => {
    const { metadata, ...other } = release({ ready: true });
    expect(addonsEnqueuedBy(undefined, { ...other, metadata: { ...metadata, name: 'docker-scs-1-30-v2' } })).toEqual(
      [],
    );
  });
});
