import { expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import type { ClusterStack } from '../../api/cluster-stack.ts';
import { statusOf } from './status.ts';

const stack: ClusterStack = {
  apiVersion: 'clusterstack.x-k8s.io/v1alpha1',
  kind: 'ClusterStack',
  metadata: storedMeta({ namespace: 'stacks', name: 'scs', generation: 1 }),
  spec: {
    provider: 'docker',
    name: 'scs',
    kubernetesVersion: '1.30',
    channel: 'stable',
    autoSubscribe: false,
    noProvider: true,
    pollInterval: '1h',
  },
};

test('a condition that does not change keeps its transition time', () => {
  const reconciled = (before: ClusterStack, now: string) =>
    statusOf(before, { scope: { stack: before, owned: [], inUse: new Set() }, lines: [] }, new Date(now));
  const first = reconciled(stack, '2030-01-01T00:00:00Z');
  const times = first.conditions?.map(({ lastTransitionTime }) => lastTransitionTime) ?? [];
  expect(new Set(times)).toEqual(new Set(['2030-01-01T00:00:00Z']));
  expect(reconciled({ ...stack, status: first }, '2030-01-02T00:00:00Z').conditions).toEqual(first.conditions);
});
