import { EventEmitter, once } from 'node:events';
import { connect as connectTcp, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import { activatorObjects, labels, ports } from '../../api/names.ts';
import { silent } from '../../runtime/observe/logger.ts';
import type { Logger } from '../../runtime/observe/logger.ts';
import { validHello } from '../../testing/builders/hostile-hello.ts';
import { FakeClock, settle } from '../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { loopbackPair, serverCa } from '../../testing/servers/server-certificates.ts';
import { readActivatorSettings, startActivator } from './activator.ts';
import type { RunningActivator } from './activator.ts';
import { serveUntilSignal } from './serve-until-signal.ts';

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

/** Lets the tenant wake up when that is requested. Returns how it is called. */
async function wakesOnRequest(cluster: FakeCluster, port: number): Promise<() => Promise<string>> {
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
  return async () => {
    const socket = connect({ host: '127.0.0.1', port, ca: ca.certificate, servername: 'kubernetes' });
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    return text;
  };
}

describe('steward activator', () => {
  test('requests by name that a tenant wakes up, and passes the call on when it is ready', async () => {
    const { cluster, activator, port } = await started();
    const call = await wakesOnRequest(cluster, port);
    expect(await call()).toBe('answered');
    const requests = await cluster.admin.get(kinds.ConfigMap, { namespace, name: activatorObjects.wakeRequests });
    expect(Object.keys(requests?.data ?? {})).toEqual(['tenants.shop']);
    expect(Date.parse(requests?.data?.['tenants.shop'] ?? '')).toBeGreaterThan(Date.now() - 60_000);
    expect(await page(activator, '/metrics')).toContain('steward_activator_connections_total{outcome="Passed"} 1');
  });

  test('measures how long callers waited for a wake, and not those who came later', async () => {
    const { cluster, activator, port } = await started();
    const call = await wakesOnRequest(cluster, port);
    await call();
    await call();
    const metrics = await page(activator, '/metrics');
    expect(metrics).toContain('steward_activator_connections_total{outcome="Passed"} 2');
    expect(metrics).toContain('steward_activator_wait_seconds_count 1');
    expect(metrics).toContain('steward_activator_displaced_connections_total 0');
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

  describe('that is terminated', () => {
    /** One that has just got the first signal. Its end waits for the clock. */
    async function ending() {
      const { cluster, activator, port } = await started();
      const [clock, signals] = [new FakeClock(), new EventEmitter()];
      const stopped = Promise.withResolvers<undefined>();
      const log: Logger = {
        ...silent,
        info: (message) => {
          if (message === 'stopping') stopped.resolve(undefined);
        },
      };
      const over = serveUntilSignal(() => Promise.resolve(activator), { clock, log, signals });
      await settle();
      signals.emit('SIGTERM', 'SIGTERM');
      await stopped.promise;
      await settle();
      return { cluster, activator, port, clock, signals, over };
    }

    /** A caller who waits. */
    const held = async (port: number): Promise<Socket> => {
      const socket = connectTcp({ host: '127.0.0.1', port });
      socket.on('error', () => socket.destroy());
      await once(socket, 'connect');
      socket.write(validHello());
      return socket;
    };
    const isHeld = async (activator: RunningActivator): Promise<void> => {
      while (!(await page(activator, '/metrics')).includes('steward_activator_held_connections 1')) await settle();
    };

    test('is unready, and answers new calls for ten seconds', async () => {
      const { cluster, activator, port, clock, over } = await ending();
      expect(await page(activator, '/readyz')).toContain('it ends');
      const call = await wakesOnRequest(cluster, port);
      await clock.advance(9_999);
      expect(await call()).toBe('answered');
      await clock.advance(1);
      await expect(call()).rejects.toThrow('ECONNREFUSED');
      await over;
      expect(clock.pending).toBe(0);
    });

    test('gives open connections fifteen seconds more', async () => {
      const { activator, port, clock, over } = await ending();
      let isOver = false;
      const noted = over.then(() => (isOver = true));
      const socket = await held(port);
      await isHeld(activator);
      await clock.advance(24_999);
      expect(isOver).toBe(false);
      await clock.advance(1);
      await noted;
      socket.destroy();
    });

    test('ends as soon as the last connection does, and listens at no new port meanwhile', async () => {
      const { cluster, activator, port, clock, over } = await ending();
      const socket = await held(port);
      await isHeld(activator);
      await clock.advance(10_000);
      const other = await freePort();
      const key = { namespace, name: activatorObjects.ports };
      const body = { data: { [other]: 'tenants/other' } };
      await cluster.admin.patch(kinds.ConfigMap, key, { type: 'merge', body });
      await settle();
      await expect(held(other)).rejects.toThrow('ECONNREFUSED');
      socket.destroy();
      await over;
      expect(clock.pending).toBe(0);
    });

    test.each(['SIGTERM', 'SIGINT'])('ends at once with a second signal, %s', async (signal) => {
      const { port, clock, signals, over } = await ending();
      signals.emit(signal, signal);
      await over;
      expect([clock.pending, signals.eventNames()]).toEqual([0, []]);
      await expect(held(port)).rejects.toThrow('ECONNREFUSED');
    });

    test('before it is ready, ends at once', async () => {
      const { activator } = await started();
      const [clock, signals] = [new FakeClock(), new EventEmitter()];
      const never = { ...activator, ready: new Promise<void>(() => undefined) };
      const over = serveUntilSignal(() => Promise.resolve(never), { clock, log: silent, signals });
      signals.emit('SIGINT', 'SIGINT');
      await over;
      expect(clock.pending).toBe(0);
    });
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
