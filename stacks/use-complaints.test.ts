import { expect, test } from '@jest/globals';
import type { ClusterStack } from '../api/clusterstack/cluster-stack.ts';
import type { ClusterStackRelease } from '../api/clusterstack/cluster-stack-release.ts';
import { releaseDeletionComplaints, stackDeletionComplaints } from './use-complaints.ts';

const release = { metadata: { namespace: 'n', name: 'docker-scs-1-30-v1' } } as ClusterStackRelease;
const stack = {
  metadata: { namespace: 'n', name: 'scs' },
  spec: { provider: 'docker', name: 'scs', kubernetesVersion: '1.30' },
} as ClusterStack;

test('a release that Clusters use names them', () => {
  const use = new Map([['n/docker-scs-1-30-v1', ['team/a', 'team/b']]]);
  expect(releaseDeletionComplaints(release, use)).toMatchObject([
    { field: 'metadata.name', value: 'docker-scs-1-30-v1', reason: expect.stringContaining('team/a, team/b') },
  ]);
  expect(releaseDeletionComplaints(release, new Map([['other/docker-scs-1-30-v1', ['team/a']]]))).toEqual([]);
});

test('a stack of which Clusters use any release names them, those of other stacks do not matter', () => {
  const use = new Map([
    ['n/docker-scs-1-30-v2', ['team/b']],
    ['n/docker-scs-1-30-v0-sha-abc', ['team/a', 'team/b']],
    ['n/docker-scs-1-31-v1', ['team/c']],
    ['m/docker-scs-1-30-v1', ['team/d']],
  ]);
  const [complaint] = stackDeletionComplaints(stack, use);
  expect(complaint?.reason).toContain('used by team/a, team/b');
  expect(stackDeletionComplaints(stack, new Map([['n/docker-scs-1-31-v1', ['team/c']]]))).toEqual([]);
});
