import { expect, test } from '@jest/globals';
import type { ClusterStack } from '../api/cluster-stack.ts';
import type { ClusterStackRelease } from '../api/cluster-stack-release.ts';
import { validateReleaseDeletion, validateStackDeletion } from './validate-use.ts';

const release = { metadata: { namespace: 'n', name: 'docker-scs-1-30-v1' } } as ClusterStackRelease;
const stack = {
  metadata: { namespace: 'n', name: 'scs' },
  spec: { provider: 'docker', name: 'scs', kubernetesVersion: '1.30' },
} as ClusterStack;

test('the refusal for a release names the Clusters that use it', () => {
  const use = new Map([['n/docker-scs-1-30-v1', ['team/a', 'team/b']]]);
  expect(validateReleaseDeletion(release, use)).toMatchObject([
    { field: 'metadata.name', value: 'docker-scs-1-30-v1', reason: expect.stringContaining('team/a, team/b') },
  ]);
  expect(validateReleaseDeletion(release, new Map([['other/docker-scs-1-30-v1', ['team/a']]]))).toEqual([]);
});

test('the refusal for a stack names the Clusters that use its releases, but not those of other stacks', () => {
  const use = new Map([
    ['n/docker-scs-1-30-v2', ['team/b']],
    ['n/docker-scs-1-30-v0-sha-abc', ['team/a', 'team/b']],
    ['n/docker-scs-1-31-v1', ['team/c']],
    ['m/docker-scs-1-30-v1', ['team/d']],
  ]);
  const [error] = validateStackDeletion(stack, use);
  expect(error?.reason).toContain('used by team/a, team/b');
  expect(validateStackDeletion(stack, new Map([['n/docker-scs-1-31-v1', ['team/c']]]))).toEqual([]);
});
