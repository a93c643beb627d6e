import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { connect, createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import { activatorObjects, labels, ports } from '../../api/names.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { loopbackPair, serverCa } from '../../testing/servers/server-certificates.ts';
import { readActivatorSettings, startActivator } from './activator.ts';
import type { RunningActivator } from './activator.ts';

const namespace = 'steward-system';

const closes: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});

/** A port of the activator's range that nobody uses. */
async function freePort(): Promise<number> {
  for (let port = 20_000 + (process.pid % 9_000); ; port += 1) {
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => {
        resolve(false);
      });
      server.listen(port, '127.0.0.1', () => {
        resolve(true);
      });
    });
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

/** An activator beside an API server in memory, with one tenant that nobody has woken up. */
async function started(): Promise<{ cluster: FakeCluster; activator: RunningActivator; port: number }> {
  const cluster = new FakeCluster();
  const port = await freePort();
  const configMap = (name: string, data = {}) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name },
    data,
  });
  await cluster.seed(kinds.ConfigMap, configMap(activatorObjects.ports, { [port]: 'tenants/shop' }));
  await cluster.seed(kinds.ConfigMap, configMap(activatorObjects.wakeRequests));
  const settings = readActivatorSettings(
    [`--pod-namespace=${namespace}`, '--health-probe-bind-address=127.0.0.1:0'],
    {},
  );
  const activator = await startActivator(cluster, settings, silent, '127.0.0.1');
  closes.push(() => activator.close());
  await activator.ready;
  return { cluster, activator, port };
}

const page = async ({ healthPort = 0 }: RunningActivator, path: string): Promise<string> =>
  (await fetch(`http://127.0.0.1:${healthPort}${path}`)).text();

describe('steward activator', () => {
  test('requests by name that a tenant wakes up, and passes the call on when it is ready', async () => {
    const { cluster, activator, port } = await started();
    const ca = await serverCa('ca');
    const pair = await loopbackPair(ca, 'kube-apiserver', ['kubernetes']);
    const server = createTlsServer({ cert: pair.certificate, key: pair.key }, (socket) => socket.end('answered'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port: secure } = server.address() as AddressInfo;
    closes.push(() => server.close());
    cluster.after(async ({ verb, kind }) => {
      if (verb !== 'patch' || kind?.kind !== 'ConfigMap') return;
      await cluster.seed(kinds.EndpointSlice, {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: {
          namespace: 'tenants',
          name: 'shop-1',
          labels: {
            [labels.name]: 'shop',
            [labels.component]: 'service',
            'kubernetes.io/service-name': 'shop',
            'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
          },
        },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['127.0.0.1'], conditions: { ready: true } }],
        ports: [{ name: ports.apiServer, port: secure, protocol: 'TCP' }],
      });
    });
    const socket = connect({ host: '127.0.0.1', port, ca: ca.certificate, servername: 'kubernetes' });
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    expect(text).toBe('answered');
    const requests = await cluster.admin.get(kinds.ConfigMap, { namespace, name: activatorObjects.wakeRequests });
    expect(Object.keys(requests?.data ?? {})).toEqual(['tenants.shop']);
    expect(Date.parse(requests?.data?.['tenants.shop'] ?? '')).toBeGreaterThan(Date.now() - 60_000);
    expect(await page(activator, '/metrics')).toContain('steward_activator_connections_total{outcome="Passed"} 1');
  });

  test('writes nothing but that request', async () => {
    const { cluster } = await started();
    expect(cluster.calls.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))).toEqual([]);
  });

  test('is ready once it listens on every port of its table, and listens on no other afterwards', async () => {
    const { cluster, activator, port } = await started();
    expect(await page(activator, '/healthz')).toBe('ok');
    const other = await freePort();
    const key = { namespace, name: activatorObjects.ports };
    await cluster.admin.patch(kinds.ConfigMap, key, {
      type: 'merge',
      body: { data: { [port]: null, [other]: 'tenants/other' } },
    });
    const refused = async (at: number): Promise<boolean> => {
      const server = createServer();
      const isFree = await new Promise<boolean>((resolve) => {
        server.once('error', () => {
          resolve(false);
        });
        server.listen(at, '127.0.0.1', () => {
          resolve(true);
        });
      });
      server.close();
      return isFree;
    };
    while (!(await refused(port))) await new Promise((next) => setImmediate(next));
    while (await refused(other)) await new Promise((next) => setImmediate(next));
    expect(await page(activator, '/readyz/ports')).toBe('ok');
  });

  test.each([
    [[], {}, '--pod-namespace'],
    [['--pod-namespace=a', '--background-networks=10.0.0.0'], {}, '"10.0.0.0" is not a network'],
    [['--max-connections=0'], { POD_NAMESPACE: 'a' }, '--max-connections must be at least 1'],
    [['--max-connections-per-tenant=0'], { POD_NAMESPACE: 'a' }, '--max-connections-per-tenant must be at least 1'],
  ])('refuses %j', (args, environment, message) => {
    expect(() => readActivatorSettings(args, environment)).toThrow(message);
  });

  test('reads networks in the background', () => {
    const { background } = readActivatorSettings(['--background-networks= 10.0.0.0/8, fd00::/8'], {
      POD_NAMESPACE: 'steward-system',
    });
    expect(['10.1.2.3', 'fd00::1', '192.0.2.1'].map((one) => background.has(one))).toEqual([true, true, false]);
  });
});
