import { expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Deployment } from '../../../api/core/kinds.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import { podSelector } from '../shared/pod-selector.ts';
import { availability } from './availability-phase.ts';

const createdAt = new Date('2030-01-01T00:00:00Z');

const outcomeAfter = (seconds: number, cluster = new FakeCluster()) => {
  const deployment: Deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: storedMeta({ name: 'tenant', namespace: 'default', creationTimestamp: createdAt.toISOString() }),
    status: { readyReplicas: 0 },
  };
  const observed = {} as Scope['observed'];
  const scope: Scope = { tcp: tenantControlPlaneWith(), observed, versions: {}, addons: {}, deployment };
  const now = new Date(createdAt.getTime() + seconds * 1000);
  const ctx = { now, signal: new AbortController().signal } as Context;
  return availability(scope, { cluster } as Partial<Dependencies> as Dependencies, ctx);
};

test('pods that have just been created are not read for twenty seconds', async () => {
  expect(await outcomeAfter(5)).toMatchObject({ is: 'waiting', message: 'the pods are starting', afterMs: 15_000 });
});

test('pods that are not ready after twenty seconds are listed every thirty seconds', async () => {
  expect(await outcomeAfter(60)).toMatchObject({
    message: 'Deployment tenant has no pods yet: see its Events',
    afterMs: 30_000,
  });
});

test.each([
  [0, 'container kube-apiserver of pod tenant-a: CrashLoopBackOff: soon'],
  [3, 'container kube-apiserver of pod tenant-a: CrashLoopBackOff: soon, restarted 3 times'],
])('a container that restarted %i times is reported with its reason', async (restartCount, message) => {
  const cluster = new FakeCluster();
  const state = { waiting: { reason: 'CrashLoopBackOff', message: 'soon' } };
  await cluster.seed(kinds.Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name: 'tenant-a', labels: podSelector(tenantControlPlaneWith()) },
    status: {
      containerStatuses: [{ name: 'kube-apiserver', ready: false, restartCount, state, image: '', imageID: '' }],
    },
  });
  expect(await outcomeAfter(60, cluster)).toMatchObject({ message });
});
