import { describe, expect, test } from '@jest/globals';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { UnreachableError } from './errors.ts';
import { KindDiscovery } from './kind-discovery.ts';

const resources = [
  { name: 'mice', kind: 'Mouse', namespaced: true },
  { name: 'mice/status', kind: 'Mouse', namespaced: true },
];
const mouse = { group: 'example.com', version: 'v1', kind: 'Mouse', plural: 'mice', namespaced: true };

describe('The discovery of kinds', () => {
  test('finds the resource name of a kind with one request', async () => {
    const cluster = new FakeCluster({ texts: { '/apis/example.com/v1': JSON.stringify({ resources }) } });
    const discovery = new KindDiscovery(cluster);
    expect(await discovery.find('example.com/v1', 'Mouse')).toEqual(mouse);
    expect(await discovery.find('example.com/v1', 'Mouse')).toEqual(mouse);
    expect(cluster.calls).toHaveLength(1);
  });

  test('finds kinds of the core group', async () => {
    const core = [{ name: 'secrets', kind: 'Secret', namespaced: true }];
    const cluster = new FakeCluster({ texts: { '/api/v1': JSON.stringify({ resources: core }) } });
    expect(await new KindDiscovery(cluster).find('v1', 'Secret')).toMatchObject({ group: '', plural: 'secrets' });
  });

  test('sends another request for a kind that is not served yet', async () => {
    let served: object[] = [];
    const cluster = new FakeCluster({ texts: { '/apis/example.com/v1': () => JSON.stringify({ resources: served }) } });
    const discovery = new KindDiscovery(cluster);
    expect(await discovery.find('example.com/v1', 'Mouse')).toBeUndefined();
    expect(await discovery.find('other.example.com/v1', 'Mouse')).toBeUndefined();
    served = resources;
    expect(await discovery.find('example.com/v1', 'Mouse')).toEqual(mouse);
    discovery.forget(mouse);
    served = [];
    expect(await discovery.find('example.com/v1', 'Mouse')).toBeUndefined();
  });

  test('does not treat a server that does not answer as one without the kind', async () => {
    const cluster = new FakeCluster();
    cluster.failNext({ verb: 'text' }, new UnreachableError('refused'));
    await expect(new KindDiscovery(cluster).find('example.com/v1', 'Mouse')).rejects.toThrow('refused');
  });

  test.each(['<html>', '{"resources":{}}', '{"resources":[null]}', '{"resources":[{"name":"mice","kind":7}]}'])(
    'treats the answer %s as none',
    async (answer) => {
      const cluster = new FakeCluster({ texts: { '/apis/example.com/v1': answer } });
      await expect(new KindDiscovery(cluster).find('example.com/v1', 'Mouse')).rejects.toThrow(UnreachableError);
    },
  );
});
