import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { KeyPair } from '../../../kubeadm/pki/key-pair.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { UnreachableError } from '../../../runtime/client/errors.ts';
import { openCluster } from '../../../runtime/client/http-cluster.ts';
import { loopbackPair, serverCa } from '../../../testing/servers/server-certificates.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';

const mebibyte = 1024 * 1024;
/** Quicker than for tenants, for servers that never end an answer: who waits for ten seconds learns nothing more. */
const impatience = 1000;
/** For servers that do end their answers: no pause of a busy machine is taken for silence. */
const patience = 60_000;

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** What plays the API server of a tenant, and what it has seen. */
interface Impostor {
  readonly port: number;
  readonly requests: string[];
  /** Bytes that it got rid of. */
  sent: () => number;
}

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return (server.address() as AddressInfo).port;
}

/** A server with the certificate of the tenant, or with another. */
async function impostor(pair: KeyPair, answer: Answer): Promise<Impostor> {
  const requests: string[] = [];
  let sent = 0;
  const server = createHttpsServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    requests.push(`${request.method ?? ''} ${request.url ?? ''}`);
    const write = response.write.bind(response) as (chunk: string | Buffer) => boolean;
    response.write = ((chunk: string | Buffer): boolean => {
      sent += chunk.length;
      return write(chunk);
    }) as typeof response.write;
    answer(request, response);
  });
  server.on('tlsClientError', () => undefined);
  return { port: await listen(server), requests, sent: () => sent };
}

/** A world whose tenant is reached at a port that is set later. */
class HostileWorld extends TenantWorld {
  /** Where the API server of the tenant is. */
  readonly at: { port: number };

  constructor(timeoutMs: number) {
    const at = { port: 1 };
    super({
      // Certificates are verified by the clock of the machine.
      start: new Date(),
      openTenant: (connection, given): Cluster => {
        const cluster = openCluster(
          { ...connection, dial: { host: '127.0.0.1', port: at.port } },
          { ...given, timeoutMs, maxBodyBytes: mebibyte },
        );
        cleanups.push(() => cluster.close());
        return cluster;
      },
    });
    this.at = at;
  }

  /** The serving certificate that the operator made for the tenant. */
  async certificate(): Promise<KeyPair> {
    const data = (await this.secret('api-server-certificate'))?.data ?? {};
    const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
    return { certificate: text('apiserver.crt'), key: text('apiserver.key') };
  }
}

/** A tenant whose pods are about to be ready. */
async function created(timeoutMs = impatience): Promise<HostileWorld> {
  const world = new HostileWorld(timeoutMs);
  world.podsStart = false;
  await world.create({ spec: { dataStore: 'default', addons: { coreDNS: {}, kubeProxy: {} } } });
  await world.reconcile();
  return world;
}

/** One reconcile when the pods are ready; returns how long it took. */
async function reconciled(world: TenantWorld): Promise<number> {
  const began = performance.now();
  await world.reconcile();
  return performance.now() - began;
}

const json = { 'content-type': 'application/json' };
const isLive = ({ url = '' }: IncomingMessage): boolean => url.startsWith('/livez');

/** Answers the health check and then as given. */
const behindLivez =
  (answer: Answer): Answer =>
  (request, response) => {
    if (isLive(request)) response.end('ok');
    else answer(request, response);
  };

function forever(chunk: string, pauseMs?: number): Answer {
  return (_request, response) => {
    response.writeHead(200, json);
    const more = (): void => {
      if (response.destroyed) return;
      const isRoom = response.write(chunk);
      if (pauseMs !== undefined) setTimeout(more, pauseMs).unref();
      else if (isRoom) setImmediate(more);
      else response.once('drain', more);
    };
    more();
  };
}

const silent: Answer = () => undefined;
/** Those whose answers only the time limit ends. */
const endless = new Set([
  'never answers',
  'drips',
  'lives and never answers more',
  'lives and drips',
  'lives and streams for ever',
]);

describe('An API server of a tenant that', () => {
  test.each<[string, string, Answer, RegExp]>([
    ['never answers', 'ControlPlaneAvailable', silent, /False PodsNotReady: .*no answer within/],
    ['drips', 'ControlPlaneAvailable', forever(' ', 20), /False PodsNotReady: .*no answer within/],
    [
      'streams for ever',
      'ControlPlaneAvailable',
      forever('x'.repeat(64 * 1024)),
      /False PodsNotReady: .*larger than 1048576 bytes/,
    ],
    [
      'answers 500',
      'ControlPlaneAvailable',
      (_request, response) => void response.writeHead(500).end('x'.repeat(1000)),
      /False PodsNotReady: .*HTTP status 500$/,
    ],
    [
      'cuts every connection',
      'ControlPlaneAvailable',
      (request) => void request.socket.destroy(),
      /False PodsNotReady: .*not reachable/,
    ],
    ['lives and never answers more', 'TenantConfigured', behindLivez(silent), /False Unreachable: .*no answer within/],
    ['lives and drips', 'TenantConfigured', behindLivez(forever(' ', 20)), /False Unreachable: .*no answer within/],
    [
      'lives and streams for ever',
      'TenantConfigured',
      behindLivez(forever('{"items":['.padEnd(64 * 1024, ' '))),
      // Thirty answers at once: on a busy machine the time limit may be the first that ends one.
      /False Unreachable: .*(larger than 1048576 bytes|no answer within)/,
    ],
    [
      'answers with a page of HTML',
      'TenantConfigured',
      (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>hello</html>'),
      /False Unreachable: .*not JSON; is there a proxy/,
    ],
    [
      'answers with other JSON under another name',
      'TenantConfigured',
      (_request, response) => void response.writeHead(200, { 'content-type': 'image/png' }).end('[1]'),
      /False Unreachable: .*not a (Role|ClusterRole|ConfigMap|RoleBinding|ClusterRoleBinding)/,
    ],
    [
      'refuses with a megabyte of words',
      'TenantConfigured',
      behindLivez((_request, response) => {
        const message = 'no '.repeat(300_000);
        response.writeHead(403, json).end(JSON.stringify({ kind: 'Status', reason: 'Bad Words!', message }));
      }),
      /^False Failed: /,
    ],
    [
      'requests an endless retry delay',
      'TenantConfigured',
      behindLivez((_request, response) => void response.writeHead(429, { 'retry-after': '99999' }).end('later')),
      /^False TooManyRequests: /,
    ],
  ])(
    '%s is reported in a condition, with limited time and memory',
    async (how, type, answer, words) => {
      const world = await created(endless.has(how) ? impatience : patience);
      const server = await impostor(await world.certificate(), answer);
      world.at.port = server.port;
      await world.startPods();
      const took = await reconciled(world);
      expect(await world.condition(type)).toMatch(words);
      expect((await world.condition(type)).length).toBeLessThan(40_000);
      expect(await world.condition('Ready')).toContain('False Provisioning');
      expect(took).toBeLessThan(endless.has(how) ? 15_000 : 60_000);
      // Each answer is read up to its limit; what the kernel's buffers hold is not ours.
      expect(server.requests.length).toBeLessThan(50);
      expect(server.sent()).toBeLessThanOrEqual(server.requests.length * 2 * mebibyte);
    },
    180_000,
  );

  test('redirects elsewhere is not followed', async () => {
    const world = await created(patience);
    const pair = await world.certificate();
    const elsewhere = await impostor(pair, (_request, response) => void response.end('ok'));
    const location = `https://127.0.0.1:${elsewhere.port}/`;
    const server = await impostor(pair, (_request, response) => void response.writeHead(307, { location }).end());
    world.at.port = server.port;
    await world.startPods();
    await reconciled(world);
    expect(await world.condition('ControlPlaneAvailable')).toMatch(/^False /);
    expect(elsewhere.requests).toEqual([]);
  });

  test('accepts connections and never answers is reported', async () => {
    const world = await created();
    world.at.port = await listen(createTcpServer());
    await world.startPods();
    expect(await reconciled(world)).toBeLessThan(15_000);
    expect(await world.condition('ControlPlaneAvailable')).toMatch(/^False PodsNotReady: .*not reachable/);
  });
});

describe('A server in place of the API server', () => {
  test.each<[string, () => Promise<KeyPair>, RegExp]>([
    [
      'with a certificate of another CA',
      async () => loopbackPair(await serverCa('kubernetes'), 'tenant'),
      /certificate/,
    ],
  ])('%s gets no request and no credentials', async (_how, issued, words) => {
    const world = await created(patience);
    const server = await impostor(await issued(), (_request, response) => void response.end('ok'));
    world.at.port = server.port;
    await world.startPods();
    await reconciled(world);
    expect(await world.condition('ControlPlaneAvailable')).toMatch(/^False PodsNotReady: /);
    expect(await world.condition('ControlPlaneAvailable')).toMatch(words);
    expect(server.requests).toEqual([]);
  });

  test('with the certificate of another tenant gets no request', async () => {
    const [world, other] = [await created(), await created()];
    const server = await impostor(await other.certificate(), (_request, response) => void response.end('ok'));
    world.at.port = server.port;
    await world.startPods();
    await reconciled(world);
    expect(await world.condition('ControlPlaneAvailable')).toMatch(/^False PodsNotReady: .*certificate/);
    expect(server.requests).toEqual([]);
  });

  test('with a client certificate of the tenant gets no request', async () => {
    const world = await created();
    const data = (await world.secret('api-server-kubelet-client-certificate'))?.data ?? {};
    const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
    const pair = { certificate: text('apiserver-kubelet-client.crt'), key: text('apiserver-kubelet-client.key') };
    const server = await impostor(pair, (_request, response) => void response.end('ok'));
    world.at.port = server.port;
    await world.startPods();
    await reconciled(world);
    expect(await world.condition('ControlPlaneAvailable')).toMatch(/^False PodsNotReady: /);
    expect(server.requests).toEqual([]);
  });
});

describe('A tenant that stops answering', () => {
  async function silenced(): Promise<TenantWorld> {
    const world = new TenantWorld();
    await world.create();
    await world.settle();
    return world;
  }
  const cut = (world: TenantWorld): (() => void) =>
    world.tenant.before(() => {
      throw new UnreachableError('GET /livez: no answer');
    });

  test('gets requests again, and is ready as soon as it has answered', async () => {
    const world = await silenced();
    const heal = cut(world);
    const { afterMs, elsewhere } = await world.reconcile();
    expect({ mayRest: (afterMs ?? Infinity) > 60_000, askMs: elsewhere?.afterMs }).toEqual({
      mayRest: true,
      askMs: 1_000,
    });
    heal();
    await world.reconcile();
    expect(await world.condition('Ready')).toBe('True');
  });

  test('delays a reconcile for five seconds at most', async () => {
    const world = await silenced();
    const [asked, never] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    world.tenant.before(async ({ path }) => {
      if (path !== '/livez') return;
      asked.resolve(undefined);
      await never.promise;
    });
    const reconciling = world.reconcile();
    await asked.promise;
    await world.clock.advance(5_000);
    never.resolve(undefined);
    await reconciling;
    expect(await world.condition('ControlPlaneAvailable')).toContain('no answer within 5 s');
  });
});
