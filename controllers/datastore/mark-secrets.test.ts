import { expect, test } from '@jest/globals';
import { storedMeta } from '../../api/as-stored.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { Draft } from '../../api/meta.ts';
import { labels } from '../../api/names.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { access } from './access.ts';
import { markSecrets } from './mark-secrets.ts';

const { signal } = new AbortController();
const reference = (name: string) => ({ secretReference: { name, namespace: 'steward-system', keyPath: 'key' } });
const store: DataStore = {
  apiVersion: 'steward.butlerlabs.dev/v1alpha1',
  kind: 'DataStore',
  metadata: storedMeta({ name: 'default' }),
  spec: {
    driver: 'PostgreSQL',
    endpoints: ['postgres:5432'],
    basicAuth: { username: reference('users'), password: reference('absent') },
  },
};
const secret = (name: string): Draft => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'steward-system', labels: { own: 'stays' } },
});

test('The Secrets that a DataStore reads are labeled once, and no others', async () => {
  const cluster = new FakeCluster({ access });
  await cluster.seed(kinds.Secret, secret('users'));
  await cluster.seed(kinds.Secret, secret('foreign'));
  await markSecrets(store, { cluster, signal });
  await markSecrets(store, { cluster, signal });
  const labelsOf = async (name: string): Promise<unknown> =>
    (await cluster.admin.get(kinds.Secret, { namespace: 'steward-system', name }))?.metadata.labels;
  expect(await labelsOf('users')).toEqual({ own: 'stays', [labels.dataStoreCredentials]: 'true' });
  expect(await labelsOf('foreign')).toEqual({ own: 'stays' });
  expect(cluster.calls.filter(({ verb }) => verb === 'patch')).toHaveLength(1);
});
