import { expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import { labels } from '../../api/names.ts';
import type { KubeconfigGenerator } from '../../api/steward/v1alpha1/kubeconfig-generator.ts';
import { createIssuerPool } from '../../kubeadm/pki/issuer-pool.ts';
import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { access } from './access.ts';
import { GeneratedSecrets } from './generated-secrets.ts';

test('the Secrets of a generator are listed without the keys in them', async () => {
  const cluster = new FakeCluster({ access });
  const metadata = { namespace: 'team', name: 'a-admins', labels: { [labels.managedBy]: 'admins' } };
  await cluster.seed(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata, data: { value: 'c2VjcmV0' } });
  const secrets = new GeneratedSecrets(
    { memory: new ObjectMemory(), cluster, tenants: () => [], generators: () => [], renewBeforeMs: 0 },
    createIssuerPool(1),
  );
  const generator = { metadata: { name: 'admins', uid: 'u' } } as KubeconfigGenerator;
  const ctx = { signal: new AbortController().signal, now: new Date(0), log: silent, event: () => undefined };
  const found = await secrets.of(generator, ctx);
  expect([...found.keys()]).toEqual(['team/a-admins']);
  expect(found.get('team/a-admins')).not.toHaveProperty('data');
});
