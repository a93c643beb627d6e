import { expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import { configMap } from '../../testing/contracts/cluster-under-test.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { createIfAbsent } from './create-if-absent.ts';

test('An object that exists is left as it is, and every other refusal is thrown', async () => {
  const { admin } = new FakeCluster();
  const create = (manifest: ReturnType<typeof configMap>): Promise<void> =>
    createIfAbsent(admin, { kind: kinds.ConfigMap, manifest }, { fieldManager: 'test' });
  await create(configMap('n', 'a', { data: { value: '1' } }));
  await create(configMap('n', 'a', { data: { value: '2' } }));
  expect((await admin.get(kinds.ConfigMap, { namespace: 'n', name: 'a' }))?.data).toEqual({ value: '1' });
  await expect(create(configMap('gone', 'a', { metadata: { resourceVersion: '7' } }))).rejects.toMatchObject({
    code: 500,
  });
});
