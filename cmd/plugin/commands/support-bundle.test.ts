import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { unpackArchive } from '../../../clusterstacks/cmd/stack/archive.ts';
import { kinds } from '../../../api/core/kinds.ts';
import { labels } from '../../../api/names.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { conditionOf, shopTenant } from '../../../testing/builders/plugin-control-planes.ts';
import { PluginWorld } from '../../../testing/worlds/plugin-world.ts';

const planted = {
  inSecret: 'planted-in-a-secret',
  inStore: 'planted-in-a-datastore',
  inLog: 'planted-in-a-log',
  inMessage: 'planted-in-a-condition',
  inVariable: 'planted-in-a-variable',
  inMetrics: 'planted-in-metrics',
  inConfig: 'planted-in-a-configmap',
};
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const ofShop = { namespace: 'tenants', labels: { [labels.name]: 'shop' } };
const pod = (name: string, metadata: object, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: {
    containers: [
      {
        name: 'kube-apiserver',
        image: 'x',
        ports: [{ name: 'metrics', containerPort: 8443 }],
        env: [{ name: 'DB_PASSWORD', value: planted.inVariable }],
      },
    ],
  },
  status: { containerStatuses: [{ name: 'kube-apiserver', restartCount: 1 }] },
  ...more,
});

/** A control plane with a secret in every place where one could be. */
async function withPlants(): Promise<PluginWorld> {
  const manager = { namespace: 'steward-system', labels: { 'app.kubernetes.io/name': 'steward' } };
  const log = (path: string): string =>
    `listening\npassword=${planted.inLog}\n${path.includes('previous') ? 'before' : 'now'}\n`;
  const management = new FakeCluster({
    texts: {
      '/api/v1/namespaces/tenants/pods/shop-abc-1/log': log,
      '/api/v1/namespaces/steward-system/pods/steward-1/log': log,
      '/api/v1/namespaces/steward-system/pods/https:steward-1:8443/proxy/metrics': `x{token="${planted.inMetrics}"} 1\n`,
    },
  });
  const world = await PluginWorld.create({ management });
  const seed = management.seed.bind(management);
  const conditions = [conditionOf('Ready', 'False', 'NotReady', { message: `postgres://u:${planted.inMessage}@pg` })];
  await seed(tenantControlPlane, shopTenant({ status: { conditions } }));
  await seed(kinds.Secret, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'shop-ca', ...ofShop },
    data: { 'ca.key': base64(planted.inSecret) },
  });
  const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shop-kubeadmconfig', ...ofShop } };
  await seed(kinds.ConfigMap, { ...config, data: { x: `token: ${planted.inConfig}\n` } });
  await seed(kinds.Pod, pod('shop-abc-1', ofShop) as never);
  await seed(kinds.Pod, pod('steward-1', manager) as never);
  await seed(dataStore, {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'DataStore',
    metadata: { name: 'default' },
    spec: {
      driver: 'PostgreSQL',
      endpoints: ['pg:5432'],
      basicAuth: { username: { content: base64('u') }, password: { content: base64(planted.inStore) } },
    },
  });
  return world;
}

async function unpacked(world: PluginWorld): Promise<ReadonlyMap<string, string>> {
  const file = join(world.folder, 'bundle.tar.gz');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const files = await unpackArchive(await readFile(file), file);
  return new Map([...files].map(([path, bytes]) => [path, bytes.toString('utf8')]));
}

test('a support bundle has objects, conditions, logs and metrics, and none of the secrets in them', async () => {
  await using world = await withPlants();
  const { code, out, notes } = await world.run(`support-bundle shop -f ${world.folder}/bundle.tar.gz`);
  expect({ code, out }).toEqual({ code: 0, out: `${world.folder}/bundle.tar.gz\n` });
  expect(notes).toEqual(['collecting what concerns the manager', 'collecting tenants/shop (1 of 1)']);
  const files = await unpacked(world);
  expect([...files.keys()].sort()).toEqual([
    'about.txt',
    'control-planes/tenants/shop/abc-1.kube-apiserver.log',
    'control-planes/tenants/shop/abc-1.kube-apiserver.previous.log',
    'control-planes/tenants/shop/conditions.txt',
    'control-planes/tenants/shop/configmaps.yaml',
    'control-planes/tenants/shop/pods.yaml',
    'control-planes/tenants/shop/secrets.yaml',
    'control-planes/tenants/shop/tenantcontrolplane.yaml',
    'datastores.yaml',
    'kubernetes-version.json',
    'manager/pods.yaml',
    'manager/steward-1.kube-apiserver.log',
    'manager/steward-1.kube-apiserver.previous.log',
    'manager/steward-1.metrics.txt',
    'missing.txt',
  ]);
  expect(files.get('missing.txt')).toBe('Nothing.\n');
  const everything = [...files].flat().join('\n');
  expect(everything).toContain('listening');
  for (const secret of Object.values(planted)) {
    expect(everything).not.toContain(secret);
    expect(everything).not.toContain(base64(secret));
  }
});

test('values of Secrets are not even read', async () => {
  await using world = await withPlants();
  await world.run(`support-bundle -A -f ${world.folder}/bundle.tar.gz`);
  const reads = world.management.calls.filter(({ kind, verb }) => kind?.kind === 'Secret' && verb !== 'list');
  expect(reads).toEqual([]);
  expect((await unpacked(world)).get('control-planes/tenants/shop/secrets.yaml')).not.toContain('ca.key');
});

test('what could not be collected is reported, and the rest is collected all the same', async () => {
  await using world = await withPlants();
  const refused = new ApiError(403, 'Forbidden', 'you may not list pods');
  world.management.failNext({ verb: 'list', kind: 'Pod' }, refused, 9);
  const { code, notes } = await world.run(`support-bundle shop -f ${world.folder}/bundle.tar.gz`);
  expect(code).toBe(0);
  const lines = ['pods of the manager: you may not list pods', 'pods of tenants/shop: you may not list pods'];
  expect(notes.slice(-2)).toEqual(lines.map((line) => `missing: ${line}`));
  const files = await unpacked(world);
  expect(files.get('missing.txt')).toBe(`${lines.join('\n')}\n`);
  expect(files.has('control-planes/tenants/shop/configmaps.yaml')).toBe(true);
});

test('an interrupt ends the collection, and no archive is written', async () => {
  await using world = await withPlants();
  const stop = new AbortController();
  await using stopped = await PluginWorld.create({ management: world.management, signal: stop.signal });
  stopped.onNote = (line) => {
    if (line.startsWith('collecting tenants/shop')) stop.abort(new Error('interrupted (SIGINT)'));
    return Promise.resolve();
  };
  const file = join(world.folder, 'bundle.tar.gz');
  expect((await stopped.run(`support-bundle shop -f ${file}`)).code).toBe(130);
  await expect(stat(file)).rejects.toThrow('ENOENT');
});

test('--no-logs leaves logs out', async () => {
  await using world = await withPlants();
  await world.run(`support-bundle shop --no-logs -f ${world.folder}/bundle.tar.gz`);
  expect([...(await unpacked(world)).keys()].filter((path) => path.endsWith('.log'))).toEqual([]);
});
