import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { kamajiDefinitions } from '../../../e2e/framework/foreign/kamaji-kinds.ts';
import type { Manifest } from '../../../api/meta.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { openCluster } from '../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../runtime/client/kubeconfig.ts';
import { patient } from '../../../testing/patient.ts';
import { apiServerUnderTest } from '../../../testing/servers/api-server-under-test.ts';
import type { ApiServerAccess } from '../../../testing/servers/api-server.ts';
import { startGarbageCollector } from '../../../testing/servers/garbage-collector.ts';
import type { ServerProcess } from '../../../testing/servers/server-process.ts';
import { installKinds } from '../../../testing/servers/install-kinds.ts';
import { KamajiPlane } from '../../../testing/worlds/kamaji-plane.ts';
import { kamajiKinds } from './kamaji-kinds.ts';

const namespace = 'tenants';
const key = { namespace, name: 'shop' };
const root = join(import.meta.dirname, '../../..');

let server: ApiServerAccess;
let admin: Cluster;
let folder: string;
let collector: ServerProcess;

beforeAll(async () => {
  server = await apiServerUnderTest();
  admin = openCluster(parseKubeconfig(await readFile(server.kubeconfigPath, 'utf8')), { name: 'management' });
  folder = await mkdtemp(join(tmpdir(), 'steward-import-'));
  await installKinds(admin, [dataStore, tenantControlPlane]);
  for (const definition of kamajiDefinitions)
    await admin.apply(kinds.CustomResourceDefinition, definition as Manifest, { fieldManager: 'test' });
  // Other files that use this server make it too, in any order.
  const tenants = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
  await admin.apply(kinds.Namespace, tenants, { fieldManager: 'test' });
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name: 'default' } };
  await admin.apply(kinds.ServiceAccount, account, { fieldManager: 'test' });
  collector = await startGarbageCollector(server, folder);
}, 300_000);

afterAll(async () => {
  // They are cluster-wide, and other files use this server, with DataStores of the same name.
  for (const { metadata } of (await admin.list(dataStore)).items) {
    await admin.patch(dataStore, metadata, { type: 'merge', body: { metadata: { finalizers: null } } });
    await admin.delete(dataStore, metadata);
  }
  await collector.kill();
  await admin.close();
  await rm(folder, { recursive: true, force: true });
});

/** Runs an import in a process of its own; the others act, and `outages` counts how often the Service led to no pod. */
async function run(plane: KamajiPlane, ...words: readonly string[]): Promise<Ran> {
  let outages = 0;
  const ended = new Promise<Omit<Ran, 'outages'>>((resolve) => {
    const given = ['import', 'shop', '-n', namespace, '--from=kamaji', '--yes', ...words];
    const env = { ...process.env, KUBECONFIG: server.kubeconfigPath };
    const program = [join(root, 'cmd/kubectl-steward.ts'), ...given];
    execFile(process.execPath, program, { env, timeout: patient(240_000) }, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
    });
  });
  const state = { isOver: false };
  const over = ended.finally(() => {
    state.isOver = true;
  });
  while (!state.isOver) {
    // The plugin may change an object between two calls of the others.
    await plane.act().catch(() => undefined);
    if ((await plane.reached()).length === 0) outages += 1;
    await pause(200);
  }
  return { ...(await over), outages };
}

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly outages: number;
}

test('a control plane of Kamaji goes to Steward, back, and to Steward again, as a real API server and garbage collector see it', async () => {
  const plane = new KamajiPlane(admin);
  await plane.seed();
  await plane.act();
  plane.podsStart = false;
  const first = await run(plane, `--timeout=${Math.ceil(patient(60))}s`);
  expect(first).toMatchObject({ code: 3, outages: 0 });
  expect(first.err).toContain('waiting for the control plane to be Ready');
  const back = await run(plane, '--undo');
  expect(back).toMatchObject({ code: 0, outages: 0 });
  expect(await admin.get(tenantControlPlane, key)).toBeUndefined();
  const ca = await admin.get(kinds.Secret, { namespace, name: 'shop-ca' });
  const old = await admin.get(kamajiKinds.controlPlane, key);
  expect(ca?.metadata.ownerReferences).toMatchObject([{ uid: old?.metadata.uid }]);
  expect(await plane.reached()).toEqual(['shop-old-a', 'shop-old-b']);
  plane.podsStart = true;
  const second = await run(plane, '-o', 'json');
  expect(second).toMatchObject({ code: 0, outages: 0 });
  expect(JSON.parse(second.out)).toMatchObject({ result: 'imported' });
  expect(await admin.get(kamajiKinds.controlPlane, key)).toBeUndefined();
  const ours = await admin.get(tenantControlPlane, key);
  expect(ours?.status?.storage?.owner).toBe(old?.metadata.uid);
  const taken = await admin.get(kinds.Secret, { namespace, name: 'shop-ca' });
  expect(taken?.metadata.ownerReferences).toMatchObject([{ uid: ours?.metadata.uid }]);
  expect(await plane.reached()).toEqual(['shop-new-a', 'shop-new-b']);
}, 600_000);
