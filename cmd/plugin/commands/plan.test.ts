import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { PluginWorld } from '../../../testing/worlds/plugin-world.ts';
import { verifiedIsolation } from '../../../testing/builders/verified-isolation.ts';

const content = Buffer.from('unread').toString('base64');

async function withManifest(...documents: readonly object[]): Promise<{ world: PluginWorld; file: string }> {
  const world = await PluginWorld.create();
  await world.management.seed(dataStore, {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'DataStore',
    metadata: { name: 'default' },
    status: { conditions: [verifiedIsolation] },
    spec: {
      driver: 'etcd',
      endpoints: ['etcd:2379'],
      tlsConfig: {
        certificateAuthority: { certificate: { content }, privateKey: { content } },
        clientCertificate: { certificate: { content }, privateKey: { content } },
      },
    },
  });
  const file = join(world.folder, 'manifest.yaml');
  await writeFile(file, documents.map((document) => stringify(document)).join('---\n'));
  return { world, file };
}

const shop = (version: string): object => ({
  apiVersion: 'steward.butlerlabs.dev/v1alpha1',
  kind: 'TenantControlPlane',
  metadata: { name: 'shop' },
  spec: {
    dataStore: 'default',
    controlPlane: { deployment: { replicas: 2 }, service: { serviceType: 'ClusterIP' } },
    kubernetes: { version },
  },
});
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenants' } };

test('plan shows what a new control plane consists of, in the namespace of the context, and leaves other objects out', async () => {
  const { world, file } = await withManifest(namespace, shop('v1.36.3'));
  await using running = world;
  const { code, out, notes } = await running.run(`plan -f ${file}`);
  expect(notes).toEqual([expect.stringContaining('no manager was found in the namespace steward-system')]);
  expect(code).toBe(0);
  expect(out).toContain('Plan for TenantControlPlane tenants/shop');
  expect(out).toContain('+ Service tenants/shop');
  // The credentials of the DataStore are none, which is found out without dialing it.
  expect(out).toContain('StoreReady CredentialsInvalid');
  expect((await running.management.admin.list(dataStore)).items).toHaveLength(1);
});

test('plan shows why a manifest would be refused, and exits with 1', async () => {
  const { world, file } = await withManifest(shop('v1.99.0'));
  await using running = world;
  const { code, out, notes } = await running.run(`plan -f ${file} -o json`);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({ refused: expect.stringContaining('newer than the supported versions') });
  expect(notes.at(-1)).toContain('TenantControlPlane shop would be refused');
});

test.each([
  ['nothing that can be planned', [namespace], 'there is no TenantControlPlane or StewardControlPlane in the manifest'],
  ['no file', undefined, 'cannot be read: ENOENT'],
])('plan of %s says so', async (_, documents, message) => {
  const { world, file } = await withManifest(...(documents ?? []));
  await using running = world;
  const { code, notes } = await running.run(`plan -f ${documents === undefined ? `${file}.absent` : file}`);
  expect(code).toBeGreaterThan(0);
  expect(notes.join('\n')).toContain(message);
});
