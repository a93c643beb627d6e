import { expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import { FakeClock } from '../../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { managementApiOf } from './management-api.ts';

test('the address of the management API server is read once for all callers, and again after a failure', async () => {
  const cluster = new FakeCluster();
  await cluster.seed(kinds.Service, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name: 'kubernetes' },
    spec: { clusterIP: '10.96.0.1' },
  });
  const find = managementApiOf(cluster, new FakeClock());
  cluster.failNext({ verb: 'get' }, new Error('no answer'));
  await expect(Promise.all([find(), find()])).rejects.toThrow('no answer');
  const before = cluster.calls.length;
  const [first, second] = await Promise.all([find(), find()]);
  expect(first.serviceAddresses).toEqual(['10.96.0.1']);
  expect(second).toBe(first);
  expect(cluster.calls.length - before).toBe(2);
});
