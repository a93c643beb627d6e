import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createSecureServer } from 'node:http2';
import type { ServerHttp2Stream } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Server as TlsServer, TLSSocket } from 'node:tls';
import { kinds } from '../../../api/core/kinds.ts';
import { settle } from '../../../testing/fake/fake-clock.ts';
import { json, key, manifest, object, ok, stored, watchOf } from '../../../testing/http2/config-map-answers.ts';
import { Http2World } from '../../../testing/http2/http2-world.ts';
import { loopbackPair, serverCa } from '../../../testing/servers/server-certificates.ts';
import { systemClock } from '../../clock.ts';
import type { Cluster } from '../cluster.ts';
import { openHttp2Line } from './http2-line.ts';

let world: Http2World;
beforeEach(() => {
  world = new Http2World();
});
afterEach(() => world[Symbol.asyncDispose]());

describe('Calls and watches over HTTP/2', () => {
  test('share one connection with the watches for drift', async () => {
    const ca = await serverCa('tenant-ca');
    const pair = await loopbackPair(ca, 'tenant');
    const server = createSecureServer({ key: pair.key, cert: pair.certificate, ca: ca.certificate, requestCert: true });
    const users: boolean[] = [];
    server.on('secureConnection', (socket: TLSSocket) => users.push(socket.authorized));
    world.servers.answering(server, (stream, { ':path': path = '' }) => {
      ok(stream, path, 'GET');
    });
    const dial = { host: '127.0.0.1', port: await world.servers.listen(server) };
    const identity = { ca: ca.certificate, clientCert: pair.certificate, clientKey: pair.key };
    const connection = { server: 'https://localhost', dial, ...identity };
    const { cluster, sessions } = world.clientOf(connection);
    const line = openHttp2Line(connection, { clock: systemClock, random: () => 0, sessions });
    const heard = Promise.withResolvers<string>();
    line.watch(
      kinds.ConfigMap,
      { resourceVersion: '1' },
      {
        event: ({ type }) => {
          heard.resolve(type);
        },
        ended: heard.reject,
      },
    );
    const stop = new AbortController();
    const [first] = await Promise.all([watchOf(cluster, stop.signal).next(), heard.promise]);
    expect(first.value).toMatchObject({ type: 'ADDED' });
    await Promise.all(Array.from({ length: 20 }, () => cluster.get(kinds.ConfigMap, key)));
    expect(users).toEqual([true]);
    expect(sessions.size).toBe(1);
    stop.abort(new Error('enough'));
    line.close();
    await cluster.get(kinds.ConfigMap, key);
    await cluster.close();
    expect([users.length, sessions.size]).toEqual([1, 0]);
  });

  test('carry megabytes in both directions', async () => {
    const bodies: string[] = [];
    const { cluster } = await world.serve((stream) => {
      text(stream).then(
        (body) => {
          bodies.push(body);
          stream.respond({ ...json, ':status': 201 });
          stream.end(JSON.stringify({ ...stored, data: { a: 'x'.repeat(7_000_000) } }));
        },
        () => undefined,
      );
    });
    const data = { a: 'ä'.repeat(1_000_000) };
    const made = await cluster.create(kinds.ConfigMap, { ...manifest, data });
    expect(JSON.stringify(made).length).toBeGreaterThan(7_000_000);
    expect(JSON.parse(bodies[0] ?? '')).toEqual({ ...manifest, data });
  });

  test('are at most as many at once as the client may make, and one that is given up is not sent', async () => {
    const held: ServerHttp2Stream[] = [];
    const { cluster } = await world.serve((stream) => void held.push(stream), { connections: 1, timeoutMs: 60_000 });
    const first = cluster.get(kinds.ConfigMap, key);
    while (held.length === 0) await settle();
    const impatient = new AbortController();
    const second = cluster.get(kinds.ConfigMap, key, { signal: impatient.signal });
    const third = cluster.get(kinds.ConfigMap, key);
    impatient.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    expect(held.length).toBe(1);
    for (const index of [0, 1]) {
      while (held.length === index) await settle();
      held[index]?.respond(json);
      held[index]?.end(object);
    }
    await Promise.all([first, third]);
    expect(held.length).toBe(2);
  });

  test('finish when the client closes, and no new one begins', async () => {
    const held: ServerHttp2Stream[] = [];
    const { cluster, sessions, opened } = await world.serve((stream) => void held.push(stream));
    const running = cluster.get(kinds.ConfigMap, key);
    while (held.length === 0) await settle();
    const closed = cluster.close();
    held[0]?.respond(json);
    held[0]?.end(object);
    expect(await running).toMatchObject(stored);
    await closed;
    while (opened[0]?.destroyed === false) await settle();
    await expect(cluster.get(kinds.ConfigMap, key)).rejects.toThrow(/the connection has been closed/);
    expect([sessions.size, opened.length]).toEqual([0, 1]);
  });

  test('that wait for their turn when the client closes finish, too, and no new one begins at another client', async () => {
    const held: ServerHttp2Stream[] = [];
    const client = await world.serve((stream) => void held.push(stream), { connections: 1 });
    const other = world.clientOf(client.connection, { sessions: client.sessions });
    const running = [0, 1, 2].map(() => client.cluster.get(kinds.ConfigMap, key));
    while (held.length === 0) await settle();
    const closed = client.cluster.close();
    await expect(client.cluster.get(kinds.ConfigMap, key)).rejects.toThrow(/the connection has been closed/);
    await expect(watchOf(client.cluster).next()).rejects.toThrow(/the connection has been closed/);
    for (const index of [0, 1, 2]) {
      while (held.length === index) await settle();
      held[index]?.respond(json);
      held[index]?.end(object);
    }
    await Promise.all([...running, closed]);
    const last = other.cluster.get(kinds.ConfigMap, key);
    while (held.length === 3) await settle();
    held[3]?.respond(json);
    held[3]?.end(object);
    await last;
    expect([client.opened.length, client.sessions.size]).toEqual([1, 1]);
    await other.cluster.close();
    expect(client.sessions.size).toBe(0);
  });

  test('end with the reason of their own signal, and leave the connection to others', async () => {
    const { cluster, opened } = await world.serve((stream, path) => {
      if (path.endsWith('/a')) ok(stream, path, 'GET');
    });
    const stop = new AbortController();
    await cluster.get(kinds.ConfigMap, key);
    const waiting = cluster.get(kinds.ConfigMap, { ...key, name: 'b' }, { signal: stop.signal });
    const reason = new Error('enough');
    stop.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await cluster.get(kinds.ConfigMap, key);
    expect(opened.length).toBe(1);
  });

  test('of a watch whose reader stops end its stream only', async () => {
    const closed = Promise.withResolvers<undefined>();
    const { cluster, opened } = await world.serve((stream, path, method) => {
      ok(stream, path, method);
      if (path.includes('watch=true'))
        stream.once('close', () => {
          closed.resolve(undefined);
        });
    });
    for await (const { type } of cluster.watch(kinds.ConfigMap, {
      signal: new AbortController().signal,
      resourceVersion: '1',
    })) {
      expect(type).toBe('ADDED');
      break;
    }
    await closed.promise;
    await cluster.get(kinds.ConfigMap, key);
    expect(opened.length).toBe(1);
  });
});

describe('A server that ends the connection', () => {
  test('gets no new requests on this connection, ends watches, and may finish calls', async () => {
    const held: ServerHttp2Stream[] = [];
    const { cluster, opened } = await world.serve((stream, path, method) => {
      if (path.endsWith('/slow')) held.push(stream);
      else ok(stream, path, method);
    });
    const events = watchOf(cluster);
    await events.next();
    const slow = cluster.get(kinds.ConfigMap, { ...key, name: 'slow' });
    while (held.length === 0) await settle();
    opened[0]?.goaway(0, 2 ** 31 - 1);
    await expect(events.next()).rejects.toThrow(/GOAWAY/);
    expect(await cluster.get(kinds.ConfigMap, key)).toMatchObject(stored);
    held[0]?.respond(json);
    held[0]?.end(object);
    expect(await slow).toMatchObject(stored);
    expect(opened.length).toBe(2);
    while (opened[0]?.destroyed === false) await settle();
  });

  test('with an error loses everything on the connection, and gets a new one', async () => {
    const held: ServerHttp2Stream[] = [];
    const { cluster, opened } = await world.serve((stream, path, method) => {
      if (held.push(stream) > 1) ok(stream, path, method);
    });
    const written = cluster.create(kinds.ConfigMap, manifest);
    while (held.length === 0) await settle();
    opened[0]?.goaway(2);
    await expect(written).rejects.toThrow(/GOAWAY with error 2/);
    await cluster.get(kinds.ConfigMap, key);
    expect(opened.length).toBe(2);
  });

  test('in the middle of a read is asked again, and never in the middle of a write', async () => {
    const methods: string[] = [];
    const { cluster, opened } = await world.serve((stream, path, method) => {
      if (methods.push(method) === 2) ok(stream, path, method);
      else opened.at(-1)?.destroy();
    });
    expect(await cluster.get(kinds.ConfigMap, key)).toMatchObject(stored);
    await expect(cluster.create(kinds.ConfigMap, manifest)).rejects.toThrow(/POST .* is not reachable/);
    expect(methods).toEqual(['GET', 'GET', 'POST']);
  });

  test('while nobody asks gets a new one', async () => {
    const { cluster, opened } = await world.serve(ok);
    await cluster.get(kinds.ConfigMap, key);
    opened[0]?.destroy();
    while (opened[0]?.destroyed === false) await settle();
    expect(await cluster.get(kinds.ConfigMap, key)).toMatchObject(stored);
  });

  test('before it processes a write gets it again, once', async () => {
    let refusals = 1;
    const methods: string[] = [];
    const { cluster, opened } = await world.serve((stream, path, method) => {
      methods.push(method);
      if (refusals > 0) {
        refusals -= 1;
        stream.close(7);
      } else ok(stream, path, method);
    });
    expect(await cluster.create(kinds.ConfigMap, manifest)).toMatchObject(stored);
    refusals = 2;
    await expect(cluster.create(kinds.ConfigMap, manifest)).rejects.toThrow(/did not process the request/);
    expect([methods.length, opened.length]).toEqual([4, 1]);
  });
});

describe('A server without HTTP/2', () => {
  const head = { 'content-type': 'application/json' };

  async function clientOfOlder(server: TlsServer, ca: string, sockets = new Set<Socket>()): Promise<Cluster> {
    server.on('secureConnection', (socket: TLSSocket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
    });
    const port = await world.servers.listen(server);
    return world.clientOf({ server: `https://localhost:${port}`, ca }).cluster;
  }

  test('is asked over HTTP/1.1, and not offered HTTP/2 each time', async () => {
    const ca = await serverCa('tenant-ca');
    const pair = await loopbackPair(ca, 'tenant');
    const offers: string[][] = [];
    const ALPNCallback = ({ protocols }: { readonly protocols: string[] }): string => {
      offers.push(protocols);
      return 'http/1.1';
    };
    const server = createHttpsServer({ key: pair.key, cert: pair.certificate, ALPNCallback }, (_, to) => {
      to.writeHead(200, head).end(object);
    });
    const cluster = await clientOfOlder(server, ca.certificate);
    for (let round = 0; round < 3; round += 1) expect(await cluster.get(kinds.ConfigMap, key)).toMatchObject(stored);
    expect(offers[0]).toEqual(['h2', 'http/1.1']);
    expect(new Set(offers.slice(1).flat())).toEqual(new Set(['http/1.1']));
  });

  test('is left by a client that closes while it is still unknown', async () => {
    const ca = await serverCa('tenant-ca');
    const pair = await loopbackPair(ca, 'tenant');
    const sockets = new Set<Socket>();
    const asked = Promise.withResolvers<undefined>();
    const ALPNCallback = (): string => {
      asked.resolve(undefined);
      return 'http/1.1';
    };
    const server = createHttpsServer({ key: pair.key, cert: pair.certificate, ALPNCallback }, (_, to) => {
      to.writeHead(200, head).end(object);
    });
    // Only the client ends a connection.
    server.keepAliveTimeout = 0;
    const cluster = await clientOfOlder(server, ca.certificate, sockets);
    const running = cluster.get(kinds.ConfigMap, key);
    await asked.promise;
    const closed = cluster.close();
    expect(await running).toMatchObject(stored);
    await closed;
    expect(sockets.size).toBeGreaterThan(0);
    while ([...sockets].some((socket) => !socket.closed)) await settle();
  });

  test('for more than a few requests at once is asked over HTTP/1.1', async () => {
    const ca = await serverCa('tenant-ca');
    const pair = await loopbackPair(ca, 'tenant');
    const server = createSecureServer(
      { key: pair.key, cert: pair.certificate, allowHTTP1: true, settings: { maxConcurrentStreams: 8 } },
      (_, to) => {
        to.writeHead(200, head).end(object);
      },
    );
    const protocols: unknown[] = [];
    server.on('secureConnection', (socket: TLSSocket) => protocols.push(socket.alpnProtocol));
    const cluster = await clientOfOlder(server, ca.certificate);
    for (let round = 0; round < 3; round += 1) expect(await cluster.get(kinds.ConfigMap, key)).toMatchObject(stored);
    expect(protocols[0]).toBe('h2');
    expect(new Set(protocols.slice(1))).toEqual(new Set(['http/1.1']));
  });
});
