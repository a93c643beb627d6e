import { expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import type { Resource } from '../../api/meta.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { FakeCluster } from '../../testing/fake-cluster.ts';
import { managementApiOf } from './management-api.ts';

test('where the API server is is read for all, and no one who asks can end the reading', async () => {
  const cluster = new FakeCluster();
  await cluster.seed(kinds.Service, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name: 'kubernetes' },
    spec: { clusterIP: '10.96.0.1' },
  } as Resource);
  const signals: unknown[] = [];
  const { get } = cluster;
  cluster.get = (kind, key, options) => {
    signals.push(options?.signal);
    return get.call(cluster, kind, key, options) as never;
  };
  const find = managementApiOf(cluster, new FakeClock());
  const [first, second] = await Promise.all([find(), find()]);
  expect(first.serviceAddresses).toEqual(['10.96.0.1']);
  expect(second).toBe(first);
  expect(signals).toEqual([undefined, undefined]);
});
