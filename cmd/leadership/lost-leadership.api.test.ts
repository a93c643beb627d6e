import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allKinds } from '../../api/all-kinds.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { apiServerUnderTest } from '../../testing/servers/api-server-under-test.ts';
import { installKinds } from '../../testing/servers/install-kinds.ts';
import { startServerProcess } from '../../testing/servers/server-process.ts';

const namespace = 'lost-leadership';
const stackGroup = 'clusterstack.x-k8s.io';
const lease = { namespace, name: 'steward.butlerlabs.dev' };

let admin: Cluster;
let kubeconfigPath: string;
let folder: string;

beforeAll(async () => {
  const server = await apiServerUnderTest();
  const { url, ca, adminCertificate, adminKey } = server;
  kubeconfigPath = server.kubeconfigPath;
  folder = await mkdtemp(join(tmpdir(), 'steward-leadership-'));
  admin = openCluster({ server: url, ca, clientCert: adminCertificate, clientKey: adminKey }, { name: 'management' });
  // Without those of cluster stacks: their layer waits for them, and no test of it shall find them here.
  await installKinds(
    admin,
    allKinds.filter(({ group }) => group !== stackGroup),
  );
  await admin.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
}, 300_000);

afterAll(async () => {
  await admin.close();
  await rm(folder, { recursive: true, force: true });
});

const holder = async (): Promise<string> => (await admin.get(kinds.Lease, lease))?.spec?.holderIdentity ?? '';

test('A manager whose Lease another one has taken ends, and leaves the Lease to it', async () => {
  const log = join(folder, 'manager.log');
  const manager = await startServerProcess({
    program: process.execPath,
    programArguments: [
      join(import.meta.dirname, '../steward.ts'),
      ...['manager', `--kubeconfig=${kubeconfigPath}`, `--pod-namespace=${namespace}`, '--leader-elect'],
      ...['--webhook-bind-address=0', '--metrics-bind-address=0', '--health-probe-bind-address=0'],
    ],
    log,
  });
  try {
    await manager.until(async () => (await holder()) !== '', 60_000);
    const body = { spec: { holderIdentity: 'another', renewTime: new Date().toISOString().replace('Z', '000Z') } };
    await admin.patch(kinds.Lease, lease, { type: 'merge', body });
    // It renews every two seconds; the Lease of another one ends its work at once.
    await expect(manager.until(() => Promise.resolve(false), 30_000)).rejects.toThrow('ended with code 1');
    expect(await holder()).toBe('another');
    expect(await readFile(log, 'utf8')).toContain('another');
  } finally {
    await manager.kill();
  }
}, 120_000);
