import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { request } from 'node:https';
import type { ClientRequest } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { kinds } from '../../api/core/kinds.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { fieldManager } from '../../controllers/tenantcontrolplane/dependencies.ts';
import { backgroundFlowManifests } from '../../controllers/tenantcontrolplane/sleep/use/background-flow-schema.ts';
import { clusterNameLabel } from '../../api/cluster-api/names.ts';
import { tenantUsers } from '../../api/names.ts';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import { patient } from '../../testing/patient.ts';
import { startApiServer } from '../../testing/servers/api-server.ts';
import type { ApiServer } from '../../testing/servers/api-server.ts';
import { startControlPlanePrograms } from '../../testing/servers/control-plane/programs.ts';
import { grantUser } from '../../testing/servers/grant-user.ts';
import { readUseCounters } from './use-counters.ts';
import type { UseCounters } from './use-counters.ts';
import { useStep } from './use-record.ts';
import type { UseRecord } from './use-record.ts';

const all = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
];
const long = 120_000;

// A control plane beside which nothing runs, and a kubelet that accepts connections and never answers.
let server: ApiServer;
let programs: AsyncDisposable;
let manager: Cluster;
let kubelet: Server;
const opened: Cluster[] = [];

/** A client with the certificate of a user. */
async function clientOf(user: string, groups: readonly string[] = []): Promise<Cluster> {
  const { certificate, key } = await server.clientPair(user, groups);
  const connection = { server: server.url, ca: server.ca, clientCert: certificate, clientKey: key };
  const cluster = openCluster(connection, { name: 'tenant' });
  opened.push(cluster);
  return cluster;
}

const read = (): Promise<UseCounters> =>
  readUseCounters(manager.lines('/metrics', { signal: AbortSignal.timeout(patient(long)) }));

/** Begins exec as an administrator; it ends when the request is destroyed. */
function exec(path: string): ClientRequest {
  const asked = request(`${server.url}${path}`, {
    ...{ method: 'POST', agent: false, ca: server.ca, cert: server.adminCertificate, key: server.adminKey },
    headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' },
  });
  asked.on('error', () => undefined);
  asked.end();
  return asked;
}

/** Reads again and again; each reading is compared with the one before. */
class Readings {
  #record: UseRecord | undefined;

  static async begin(): Promise<Readings> {
    const readings = new Readings();
    await readings.isUsed();
    return readings;
  }

  async isUsed(): Promise<boolean> {
    const step = useStep(this.#record, await read(), performance.now());
    this.#record = step.record;
    return step.isUsed;
  }

  /** Reads until a reading says so. */
  async until(expected: boolean): Promise<void> {
    const end = performance.now() + patient(30_000);
    while ((await this.isUsed()) !== expected)
      if (performance.now() > end)
        throw new Error(`it is ${expected ? 'not in use' : 'in use'} for half a minute and more`);
  }
}

/** Waits until a leader election has renewed its lease so often. */
async function renewals(name: string, times: number): Promise<void> {
  let seen = 0;
  const options = {
    namespace: 'kube-system',
    fieldSelector: `metadata.name=${name}`,
    signal: AbortSignal.timeout(patient(long)),
  };
  for await (const event of manager.watch(kinds.Lease, options)) {
    if ('object' in event) seen += 1;
    if (seen > times) return;
  }
}

beforeAll(async () => {
  server = await startApiServer();
  manager = await clientOf('kubernetes-super-admin', ['system:masters']);
  programs = await startControlPlanePrograms(server);
  kubelet = createServer((socket) => {
    socket.on('error', () => undefined);
    kubelet.once('hang up', () => {
      socket.destroy();
    });
  });
  kubelet.listen(0, '127.0.0.1');
  await once(kubelet, 'listening');
  await grantUser(manager, 'alice', all);
  const tcp = tenantControlPlaneWith({
    metadata: { labels: { [clusterNameLabel]: 'shop' } },
    spec: { sleep: { afterIdle: '30m' } },
  });
  for (const manifest of backgroundFlowManifests(tcp))
    await manager.apply(kinds.FlowSchema, manifest, { fieldManager });
  await Promise.all(['kube-scheduler', 'kube-controller-manager'].map((name) => renewals(name, 2)));
}, long);

afterAll(async () => {
  await Promise.all(opened.map((cluster) => cluster.close()));
  kubelet.close();
  await programs[Symbol.asyncDispose]();
  await server.stop();
}, long);

/** Waits for the end of a watch. An error that comes before the watch was aborted is one. */
async function untilAborted(next: Promise<unknown>, signal: AbortSignal): Promise<void> {
  await next.catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

describe('An API server with its controller manager and scheduler', () => {
  test(
    'is idle while leader elections run, the manager writes and watches, and health is checked',
    async () => {
      const readings = await Readings.begin();
      const watch = new AbortController();
      const watching = manager.watch(kinds.ConfigMap, { signal: watch.signal })[Symbol.asyncIterator]();
      await watching.next();
      const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ours', namespace: 'default' } };
      await manager.apply(kinds.ConfigMap, manifest, { fieldManager });
      await manager.text('/readyz');
      await renewals('kube-scheduler', 8);
      expect(await readings.isUsed()).toBe(false);
      watch.abort();
      await untilAborted(watching.next(), watch.signal);
      expect(await readings.isUsed()).toBe(false);
    },
    long,
  );

  test(
    'is not used by its own parts, by health checks, metrics and heartbeats, or by the watch of Cluster API on nodes',
    async () => {
      const [controller, prometheus, tunnel, node, admin, anybody] = await Promise.all([
        clientOf('system:serviceaccount:shop:ingress', ['system:serviceaccounts', 'system:serviceaccounts:shop']),
        clientOf(tenantUsers.monitoring, ['system:monitoring']),
        clientOf(tenantUsers.konnectivity),
        clientOf('system:node:one', ['system:nodes']),
        clientOf('kubernetes-admin', ['kubeadm:cluster-admins']),
        clientOf('anybody'),
      ]);
      await grantUser(manager, 'kubernetes-admin', all);
      const lease = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'one', namespace: 'kube-node-lease' },
      };
      const readings = await Readings.begin();
      // Rights do not matter: a request that is refused has been counted.
      await Promise.allSettled([
        prometheus.text('/metrics'),
        tunnel.list(kinds.ConfigMap),
        node.get(kinds.Node, { name: 'one' }),
        node.create(kinds.Lease, lease),
        controller.get(kinds.Lease, { namespace: 'shop', name: 'ingress' }),
        ...['/', '/readyz', '/livez/etcd', '/metrics'].map((path) => anybody.text(path)),
      ]);
      const end = new AbortController();
      const watching = admin.watch(kinds.Node, { resourceVersion: '0', signal: end.signal })[Symbol.asyncIterator]();
      const first = untilAborted(watching.next(), end.signal);
      await renewals('kube-scheduler', 2);
      expect(await readings.isUsed()).toBe(false);
      end.abort();
      await first;
    },
    long,
  );

  test('is not used by requests without credentials, as those of scanners', async () => {
    const stranger = openCluster({ server: server.url, ca: server.ca }, { name: 'tenant' });
    opened.push(stranger);
    const readings = await Readings.begin();
    const refused = await Promise.allSettled([
      ...['/', '/api', '/version', '/robots.txt', '/readyz'].map((path) => stranger.text(path)),
      stranger.list(kinds.ConfigMap),
      stranger.get(kinds.Secret, { namespace: 'default', name: 'any' }),
    ]);
    expect(refused.some(({ status }) => status === 'rejected')).toBe(true);
    expect(await readings.isUsed()).toBe(false);
  });

  test('is used by one request of a person', async () => {
    const alice = await clientOf('alice');
    const readings = await Readings.begin();
    expect(await readings.isUsed()).toBe(false);
    await alice.get(kinds.ConfigMap, { namespace: 'default', name: 'ours' });
    expect([await readings.isUsed(), await readings.isUsed()]).toEqual([true, false]);
  });

  test(
    'is used by a service account that is not in kube-system, and by one write of a person',
    async () => {
      const account = await clientOf('system:serviceaccount:shop:default', [
        'system:serviceaccounts',
        'system:serviceaccounts:shop',
      ]);
      const alice = await clientOf('alice');
      const readings = await Readings.begin();
      // A request that is denied is use as well.
      await expect(account.list(kinds.ConfigMap)).rejects.toMatchObject({ code: 403 });
      expect(await readings.isUsed()).toBe(true);
      const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'hers', namespace: 'default' } };
      await alice.create(kinds.ConfigMap, manifest);
      expect([await readings.isUsed(), await readings.isUsed()]).toEqual([true, false]);
    },
    long,
  );

  test(
    'is used as long as a person watches something',
    async () => {
      const alice = await clientOf('alice');
      const readings = await Readings.begin();
      const end = new AbortController();
      const watching = alice.watch(kinds.ConfigMap, { signal: end.signal })[Symbol.asyncIterator]();
      await watching.next();
      await readings.until(true);
      await renewals('kube-scheduler', 3);
      expect([await readings.isUsed(), await readings.isUsed()]).toEqual([true, true]);
      end.abort();
      await untilAborted(watching.next(), end.signal);
      await readings.until(false);
    },
    long,
  );

  test(
    'is used as long as exec runs, also that of a member of system:masters',
    async () => {
      const { port } = kubelet.address() as AddressInfo;
      const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'one' } };
      await manager.create(kinds.Node, node);
      const status = {
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: port } },
      };
      await manager.patch(kinds.Node, { name: 'one' }, { type: 'merge', body: { status } }, { subresource: 'status' });
      const pod = {
        ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'shell', namespace: 'default' } },
        spec: {
          nodeName: 'one',
          containers: [{ name: 'shell', image: 'shell' }],
          tolerations: [{ operator: 'Exists' }],
        },
      };
      await manager.create(kinds.Pod, pod);
      const readings = await Readings.begin();
      const before = await read();
      const dialed = once(kubelet, 'connection');
      const stream = exec('/api/v1/namespaces/default/pods/shell/exec?command=sh&stdout=true');
      await dialed;
      expect([await readings.isUsed(), await readings.isUsed()]).toEqual([true, true]);
      stream.destroy();
      kubelet.emit('hang up');
      await readings.until(false);
      // However short it was.
      expect((await read()).connects).toBeGreaterThan(before.connects);
    },
    long,
  );

  test('sends a small part of /metrics for it', async () => {
    const whole = (await manager.text('/metrics')).length;
    let read = 0;
    async function* counted(): AsyncGenerator<string> {
      for await (const line of manager.lines('/metrics', { signal: AbortSignal.timeout(patient(long)) })) {
        read += line.length + 1;
        yield line;
      }
    }
    await readUseCounters(counted());
    expect(read).toBeLessThan(500_000);
    expect(read).toBeLessThan(whole / 2);
  });
});
