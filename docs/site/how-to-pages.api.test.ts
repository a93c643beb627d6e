import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';

import { kinds } from '../../api/core/kinds.ts';
import type { Manifest } from '../../api/meta.ts';
import { backupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import { tenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import { tenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { kubeconfigGenerator } from '../../api/steward/v1alpha1/kubeconfig-generator.ts';
import { controlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import { controlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { retainedControlPlane } from '../../api/steward/v1alpha1/retained-control-plane.ts';
import { retainedTenant } from '../../api/steward/v1alpha1/retained-tenant.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { consoleBlocks } from '../../e2e/framework/console-blocks.ts';
import { pageFiles } from '../../e2e/framework/flux/page-files.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../runtime/client/kubeconfig.ts';
import { patient } from '../../testing/patient.ts';
import { startApiServer } from '../../testing/servers/api-server.ts';
import { installKinds } from '../../testing/servers/install-kinds.ts';

const run = promisify(execFile);
const self = 'docs/site/how-to-pages.api.test.ts';
const shop = { namespace: 'tenants', name: 'shop' };

let server: Awaited<ReturnType<typeof startApiServer>>;
let cluster: Cluster;
let kubectl: string;
let folder: string;

/** A real API server with Steward's kinds and a TenantControlPlane, and no manager: commands change specs and metadata. */
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'how-to-pages-'));
  ({ kubectl } = await resolveTools(['kubectl']));
  server = await startApiServer();
  cluster = openCluster(parseKubeconfig(server.kubeconfig), { name: 'management' });
  const more = [backupPolicy, tenantBackup, tenantRestore, controlPlanePool, controlPlaneClaim];
  await installKinds(cluster, [dataStore, kubeconfigGenerator, retainedControlPlane, tenantControlPlane, ...more]);
  await cluster.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: shop.namespace } });
  const tenant = {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'TenantControlPlane',
    metadata: shop,
    spec: {
      dataStore: 'default',
      controlPlane: { service: { serviceType: 'ClusterIP' } },
      kubernetes: { version: 'v1.36.3' },
    },
  };
  await cluster.create(tenantControlPlane, tenant);
}, 120_000);

afterAll(async () => {
  await cluster.close();
  await server.stop();
  await rm(folder, { recursive: true });
});

const tenant = (): Promise<TenantControlPlane | undefined> => cluster.get(tenantControlPlane, shop);

/** Runs the blocks of a page that name this test, in their order, each followed by a look at what it did. */
async function follow(page: string, looks: readonly ((printed: string) => unknown)[]): Promise<void> {
  const markdown = await readFile(path.join(import.meta.dirname, '../how-to', `${page}.md`), 'utf8');
  const blocks = consoleBlocks(markdown).filter(
    ({ trial }) => trial !== undefined && 'tests' in trial && trial.tests.includes(self),
  );
  expect(blocks).toHaveLength(looks.length);
  for (const [index, { commands }] of blocks.entries()) await looks[index]?.(await shell(commands));
}

/** Runs commands as a reader does, in the folder with what commands before have written. */
async function shell(commands: string): Promise<string> {
  const PATH = [path.dirname(kubectl), process.env.PATH ?? ''].join(path.delimiter);
  const env = { ...process.env, KUBECONFIG: server.kubeconfigPath, PATH };
  const options = { env, cwd: folder, timeout: patient(60_000) };
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', commands], options);
  return stdout;
}

describe('The commands of a how-to page', () => {
  test('create the first tenant and delete it', async () => {
    const first = { namespace: 'default', name: 'first' };
    await follow('get-started', [
      async () => {
        expect((await cluster.get(tenantControlPlane, first))?.spec.networkProfile.certSANs).toEqual(['localhost']);
      },
      async () => {
        expect(await cluster.get(tenantControlPlane, first)).toBeUndefined();
      },
    ]);
  }, 120_000);

  test('scale a tenant, put it to sleep and wake it up', async () => {
    const hasReplicas = (count: number) => async (): Promise<void> => {
      expect((await tenant())?.spec.controlPlane.deployment.replicas).toBe(count);
    };
    await follow('sleep-and-scale', [3, 0, 1].map(hasReplicas));
  }, 120_000);

  test('deny writes and allow them again', async () => {
    await follow('limit-writes', [
      (printed) => {
        expect(JSON.parse(printed.trim().split('\n').at(-1) ?? '')).toEqual({
          blockCreation: true,
          blockUpdate: true,
          blockDeletion: true,
        });
      },
      async () => {
        expect((await tenant())?.spec.writePermissions).toBeUndefined();
      },
    ]);
  }, 120_000);

  test('limit what a tenant stores', async () => {
    await follow('limit-what-a-tenant-stores', [
      (printed) => {
        const set = JSON.parse(printed.trim().split('\n').at(-1) ?? '') as unknown;
        expect(set).toEqual({ dataSize: '500Mi', objects: 20_000, warnAtPercent: 80 });
      },
      async () => {
        expect((await tenant())?.spec.quota).toBeUndefined();
      },
    ]);
  }, 120_000);

  test('pause and resume', async () => {
    const paused = async (): Promise<string | undefined> =>
      (await tenant())?.metadata.annotations?.['steward.butlerlabs.dev/paused'];
    await follow('pause', [
      async () => {
        expect(await paused()).toBe('');
      },
      async () => {
        expect(await paused()).toBeUndefined();
      },
    ]);
  }, 120_000);

  test('generate kubeconfigs for users, and end that', async () => {
    const support = { name: 'support' };
    await follow('kubeconfigs-for-users', [
      async () => {
        expect((await cluster.get(kubeconfigGenerator, support))?.spec.user).toEqual({ stringValue: 'support' });
      },
      async () => {
        expect(await cluster.get(kubeconfigGenerator, support)).toBeUndefined();
      },
    ]);
  }, 120_000);

  test('prepare control planes, claim one and give it back', async () => {
    const claim = { ...shop, name: 'build-42' };
    await follow('claim-a-prepared-control-plane', [
      async () => {
        const pool = await cluster.get(controlPlanePool, { ...shop, name: 'small' });
        expect(pool?.spec).toMatchObject({ minReady: 2, maxReady: 10 });
        expect(pool?.spec.template.spec.controlPlane.deployment.replicas).toBe(1);
      },
      async () => {
        expect(await cluster.get(kinds.Role, { ...shop, name: 'claims-of-ci' })).toMatchObject({
          rules: [{}, { resources: ['controlplanepools'], resourceNames: ['small'], verbs: ['claim'] }, {}],
        });
      },
      async () => {
        expect((await cluster.get(controlPlaneClaim, claim))?.spec).toEqual({
          pool: 'small',
          deletionPolicy: 'Delete',
        });
      },
      async () => {
        expect(await cluster.get(controlPlaneClaim, claim)).toBeUndefined();
      },
    ]);
  }, 120_000);

  test('save the objects of Steward, with a record of the data of each tenant that has some, and restore them', async () => {
    const own = await cluster.create(tenantControlPlane, {
      ...{ apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'TenantControlPlane' },
      metadata: { ...shop, name: 'quoted' },
      spec: {
        ...{ dataStore: 'default', kubernetes: { version: 'v1.36.3' } },
        controlPlane: {
          service: {
            serviceType: 'ClusterIP',
            additionalMetadata: { annotations: { text: `"it's" {<&>}\n--- # \\` } },
          },
        },
      },
    });
    const storage = { dataStoreName: 'default', setup: { schema: 'schema', user: 'user' } };
    const options = { subresource: 'status' } as const;
    const key = { namespace: shop.namespace, name: 'quoted' };
    const status = { kubernetesResources: { version: { version: 'v1.36.3' } }, storage };
    await cluster.patch(tenantControlPlane, key, { type: 'merge', body: { status } }, options);
    for (const [name, text] of Object.entries(await pageFiles('back-up-the-management-cluster')))
      await writeFile(path.join(folder, name), text);
    const owner = { apiVersion: 'v1', kind: 'Secret', name: 'gone', uid: 'd4c6a1c9-5c1d-4d5f-9b0b-2c7c9d0f6a11' };
    const secrets = ['one', 'two'].map((name) => ({ namespace: shop.namespace, name }));
    for (const at of secrets) {
      const metadata = { ...at, ownerReferences: [owner], finalizers: ['example.com/kept'] };
      await cluster.create(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { of: at.name } });
    }
    await follow('back-up-the-management-cluster', [
      async () => {
        const text = await readFile(path.join(folder, 'saved/tenants.yaml'), 'utf8');
        expect(text).toContain('name: shop');
        const records = parseAllDocuments(await readFile(path.join(folder, 'saved/retained.yaml'), 'utf8')).map(
          (document) => document.toJS() as Manifest,
        );
        // The other one has no data.
        expect(records.map(({ metadata }) => metadata.name)).toEqual(['tenants.quoted']);
        const [record] = records;
        if (record === undefined) throw new Error('there is one');
        const former = retainedTenant(await cluster.create(retainedControlPlane, record));
        expect(former).toMatchObject({ metadata: { ...key, uid: own.metadata.uid }, spec: own.spec, status });
      },
    ]);
    await cluster.delete(tenantControlPlane, key);
    for (const at of secrets) {
      const body = { metadata: { finalizers: null } };
      const { metadata } = await cluster.patch(kinds.Secret, at, { type: 'merge', body });
      await cluster.delete(kinds.Secret, at, { uid: metadata.uid });
    }
    await shell('. ./restore.sh\nrestore own.yaml --field-manager=someone\nrestore generators.yaml');
    for (const at of secrets) {
      const restored = await cluster.get(kinds.Secret, at);
      expect(restored?.data).toEqual({ of: Buffer.from(at.name).toString('base64') });
      expect(restored?.metadata).toMatchObject({ managedFields: [{ manager: 'someone' }] });
      expect(restored?.metadata).not.toHaveProperty('ownerReferences');
      expect(restored?.metadata).not.toHaveProperty('finalizers');
    }
  }, 120_000);

  test('list tenants and show why they are not Ready', async () => {
    await follow('migrate-from-the-go-steward', [
      (printed) => {
        expect(printed).toMatch(/^NAMESPACE +NAME +READY +WHY\ntenants +shop +/);
      },
    ]);
  }, 120_000);

  test('check Steward after an upgrade, and delete every tenant before it is uninstalled', async () => {
    await follow('upgrade-steward', [
      (printed) => {
        expect(printed).toMatch(/^tenants +shop /m);
      },
      async () => {
        expect(await tenant()).toBeUndefined();
      },
    ]);
  }, 120_000);
});
