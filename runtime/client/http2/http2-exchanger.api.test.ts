import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { kinds } from '../../../api/core/kinds.ts';
import { crd, crdName } from '../../../api/generate/crd.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { describeCluster } from '../../../testing/contracts/cluster-suite.ts';
import { configMap } from '../../../testing/contracts/cluster-under-test.ts';
import { patient } from '../../../testing/patient.ts';
import { apiServerUnderTest } from '../../../testing/servers/api-server-under-test.ts';
import { startApiServer } from '../../../testing/servers/api-server.ts';
import type { ApiServer } from '../../../testing/servers/api-server.ts';
import { startTcpProxy } from '../../../testing/servers/tcp-proxy.ts';
import type { TcpProxy } from '../../../testing/servers/tcp-proxy.ts';
import { systemClock } from '../../clock.ts';
import type { Cluster } from '../cluster.ts';
import type { Connection } from '../connection.ts';
import { UnreachableError } from '../errors.ts';
import { openCluster } from '../http-cluster.ts';
import { parseKubeconfig } from '../kubeconfig.ts';
import type { WatchEvent } from '../cluster.ts';
import { openHttp2Line } from './http2-line.ts';
import { Http2Sessions } from './http2-sessions.ts';

const options = { clock: systemClock, random: () => 0 };

async function freshNamespace(cluster: Cluster): Promise<string> {
  const name = `test-${randomUUID().slice(0, 8)}`;
  await cluster.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  return name;
}

async function sharedServer(): Promise<Connection> {
  const { url, ca, adminCertificate, adminKey } = await apiServerUnderTest();
  return { server: url, ca, clientCert: adminCertificate, clientKey: adminKey };
}

describeCluster('a real API server over HTTP/2', async () => {
  const cluster = openCluster(await sharedServer(), { name: 'tenant', sessions: new Http2Sessions(options) });
  const fieldSelector = `metadata.name=${crdName(tenantControlPlane)}`;
  await cluster.apply(kinds.CustomResourceDefinition, crd(tenantControlPlane), { fieldManager: 'test' });
  const signal = AbortSignal.timeout(patient(20_000));
  for await (const event of cluster.watch(kinds.CustomResourceDefinition, { fieldSelector, signal })) {
    // `null` until the server has processed it.
    const conditions = 'object' in event ? (event.object.status?.conditions ?? []) : [];
    if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) break;
  }
  return { cluster, namespace: await freshNamespace(cluster), close: () => cluster.close() };
});

test('Calls and watches of one real API server share one connection', async () => {
  // A server that never sends GOAWAY: that ends watches, and they begin again on another connection.
  const shared = await sharedServer();
  await using proxy = await startTcpProxy(Number(new URL(shared.server).port));
  const connection = { ...shared, dial: { host: '127.0.0.1', port: proxy.port } };
  const sessions = new Http2Sessions(options);
  const cluster = openCluster(connection, { name: 'tenant', sessions });
  const namespace = await freshNamespace(cluster);
  const line = openHttp2Line(connection, { ...options, sessions });
  const { resourceVersion } = await line.list(kinds.ConfigMap, { namespace, limit: 10 });
  const heard = Promise.withResolvers<string>();
  line.watch(
    kinds.ConfigMap,
    { namespace, resourceVersion },
    {
      event: ({ type }) => {
        heard.resolve(type);
      },
      ended: heard.reject,
    },
  );
  const stop = new AbortController();
  const events = cluster
    .watch(kinds.ConfigMap, { namespace, resourceVersion, signal: stop.signal })
    [Symbol.asyncIterator]();
  const next: Promise<IteratorResult<WatchEvent<object>, unknown>> = events.next();
  await cluster.create(kinds.ConfigMap, configMap(namespace, 'shared'));
  expect([await heard.promise, (await next).value]).toEqual(['ADDED', expect.objectContaining({ type: 'ADDED' })]);
  stop.abort(new Error('enough'));
  line.close();
  await cluster.close();
  expect(proxy.accepted).toBe(1);
}, 60_000);

describe('Calls to a real API server', () => {
  let server: ApiServer;
  let proxy: TcpProxy;
  let cluster: Cluster;
  let namespace: string;

  beforeAll(async () => {
    // A server behind a load balancer sends GOAWAY to some clients, so that they connect again.
    server = await startApiServer({ flags: { 'goaway-chance': '0.02' } });
    proxy = await startTcpProxy(Number(new URL(server.url).port));
    const connection = { ...parseKubeconfig(server.kubeconfig), dial: { host: '127.0.0.1', port: proxy.port } };
    cluster = openCluster(connection, { name: 'tenant', sessions: new Http2Sessions(options) });
    namespace = await freshNamespace(cluster);
  }, 180_000);

  afterAll(async () => {
    await cluster.close();
    await proxy[Symbol.asyncDispose]();
    await server.stop();
  }, 60_000);

  const make = (name: string): Promise<object> => cluster.create(kinds.ConfigMap, configMap(namespace, name));

  test('fail none of hundreds when the server sends GOAWAY again and again', async () => {
    const before = proxy.accepted;
    let round = 0;
    // By then the server has sent one in all runs but one in three thousand; then a few more rounds.
    for (; round < 100 || (proxy.accepted === before && round < 400); round += 1) {
      const name = `many-${round}`;
      await Promise.all([make(name), cluster.get(kinds.Namespace, { name: namespace })]);
      await Promise.all([0, 1].map(() => cluster.get(kinds.ConfigMap, { namespace, name })));
    }
    const { items } = await cluster.list(kinds.ConfigMap, { namespace });
    expect(items.filter(({ metadata }) => metadata.name.startsWith('many-')).length).toBe(round);
    expect(proxy.accepted).toBeGreaterThan(before);
  }, 120_000);

  test('go on once the server is back', async () => {
    await server.kill();
    const failed: unknown = await make('meanwhile').catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(UnreachableError);
    await server.restart();
    await make('after');
  }, 120_000);
});
