import { afterEach, describe, expect, test } from '@jest/globals';
import { createSecureServer, createServer } from 'node:http2';
import type { Http2Server, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { kinds } from '../../api/core/kinds.ts';
import { FakeClock, settle } from '../../testing/fake/fake-clock.ts';
import { loopbackPair, serverCa } from '../../testing/servers/server-certificates.ts';
import { startTcpProxy } from '../../testing/servers/tcp-proxy.ts';
import { systemClock } from '../clock.ts';
import type { WatchEvent } from './cluster.ts';
import type { Connection } from './connection.ts';
import { ApiError, UnreachableError } from './errors.ts';
import { openHttp2Line } from './http2-client.ts';
import type { Http2LineOptions } from './http2-client.ts';
import type { WatchLine } from './watch-connection.ts';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

type Answer = (stream: ServerHttp2Stream, path: URL, headers: Readonly<Record<string, unknown>>) => void;

interface Served {
  readonly line: WatchLine;
  readonly sessions: ServerHttp2Session[];
}

async function listening(server: { listen(port: number, host: string, done: () => void): unknown }): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
}

function lineTo(connection: Connection, options: Partial<Http2LineOptions>): WatchLine {
  const line = openHttp2Line(connection, { clock: systemClock, random: () => 0, ...options });
  cleanups.push(() => {
    line.close();
  });
  return line;
}

function serving(server: Http2Server, answer: Answer): ServerHttp2Session[] {
  const sessions: ServerHttp2Session[] = [];
  server.on('session', (session) => {
    sessions.push(session);
    session.on('error', () => undefined);
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    answer(stream, new URL(headers[':path'] ?? '', 'http://server'), headers);
  });
  cleanups.push(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return sessions;
}

/** A server that answers as the test requires, and a connection to it. */
async function serve(answer: Answer, options: Partial<Http2LineOptions> = {}): Promise<Served> {
  const server = createServer();
  const sessions = serving(server, answer);
  await listening(server);
  const { port } = server.address() as AddressInfo;
  return { line: lineTo({ server: `http://127.0.0.1:${port}` }, options), sessions };
}

const selection = { labelSelector: 'ours', resourceVersion: '7' };
const line = (type: string, name: string, more: object = {}): string =>
  `${JSON.stringify({ type, object: { metadata: { name, namespace: 'n', uid: 'u', resourceVersion: '8', ...more } } })}\n`;
const json = { ':status': 200, 'content-type': 'application/json' };

/** The events of a watch of ConfigMaps, until it ends. */
function hear(on: WatchLine): {
  readonly events: WatchEvent<object>[];
  readonly ended: Promise<unknown>;
  stop(): void;
} {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const events: WatchEvent<object>[] = [];
  const stop = on.watch(kinds.ConfigMap, selection, { event: (event) => void events.push(event), ended: resolve });
  return { events, ended: promise, stop };
}

describe('A connection over HTTP/2', () => {
  test('carries lists and many watches, of metadata only, and without bookmarks', async () => {
    const asked: string[] = [];
    const metadata = { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '6' };
    const { line: on, sessions } = await serve((stream, url, headers) => {
      asked.push(`${url.pathname} ${url.search} ${String(headers.accept)}`);
      stream.respond(json);
      if (url.searchParams.get('watch') === null) {
        stream.end(JSON.stringify({ metadata: { resourceVersion: '7', continue: 'x' }, items: [{ metadata }] }));
      } else stream.end(line('ADDED', 'b') + line('DELETED', 'b'));
    });
    const list = await on.list(kinds.ConfigMap, { labelSelector: 'ours', limit: 5 });
    expect(list).toEqual({
      items: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata }],
      resourceVersion: '7',
      next: 'x',
    });
    const heard = [hear(on), hear(on), hear(on)];
    for (const { events, ended } of heard) {
      expect(await ended).toBeUndefined();
      expect(events.map(({ type }) => type)).toEqual(['ADDED', 'DELETED']);
    }
    expect(sessions.length).toBe(1);
    expect(asked.slice(0, 2)).toEqual([
      '/api/v1/configmaps ?labelSelector=ours&limit=5 application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
      '/api/v1/configmaps ?labelSelector=ours&resourceVersion=7&watch=true&timeoutSeconds=1800 application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
    ]);
  });

  test('verifies the server and authenticates with its certificate', async () => {
    const ca = await serverCa('tenant-ca');
    const pair = await loopbackPair(ca, 'tenant');
    const server = createSecureServer({ key: pair.key, cert: pair.certificate, ca: ca.certificate, requestCert: true });
    let isKnown = false;
    server.on('secureConnection', (socket: TLSSocket) => {
      isKnown = socket.authorized;
    });
    serving(server, (stream) => {
      stream.respond(json);
      stream.end(JSON.stringify({ metadata: { resourceVersion: isKnown ? 'known' : 'stranger' }, items: null }));
    });
    await listening(server);
    const { port } = server.address() as AddressInfo;
    const connection = { server: 'https://localhost', dial: { host: '127.0.0.1', port }, ca: ca.certificate };
    const known = lineTo({ ...connection, clientCert: pair.certificate, clientKey: pair.key }, {});
    expect((await known.list(kinds.ConfigMap, { limit: 1 })).resourceVersion).toBe('known');
    const other = await serverCa('other');
    const deceived = lineTo({ ...connection, ca: other.certificate }, {});
    await expect(deceived.list(kinds.ConfigMap, { limit: 1 })).rejects.toThrow(
      /https:\/\/localhost \(at .*certificate/s,
    );
    const misnamed = lineTo({ ...connection, server: 'https://elsewhere.example.org' }, {});
    await expect(misnamed.list(kinds.ConfigMap, { limit: 1 })).rejects.toThrow(UnreachableError);
  });

  test('reports the refusal of a watch, before it begins and while it runs', async () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
    let asked = 0;
    const { line: on } = await serve((stream) => {
      asked += 1;
      if (asked === 1) {
        stream.respond({ ...json, ':status': 410 });
        stream.end(JSON.stringify(status));
      } else {
        stream.respond(json);
        stream.write(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
      }
    });
    for (const ended of [await hear(on).ended, await hear(on).ended]) {
      expect(ended).toBeInstanceOf(ApiError);
      expect(ended).toMatchObject({ code: 410, reason: 'Expired' });
    }
  });

  test('reports nothing of a watch that was stopped, and continues the others', async () => {
    const streams: ServerHttp2Stream[] = [];
    const closed = Promise.withResolvers<undefined>();
    const { line: on } = await serve((stream) => {
      if (streams.push(stream) === 1)
        stream.once('close', () => {
          closed.resolve(undefined);
        });
      stream.respond(json);
      stream.write(line('ADDED', 'a'));
    });
    const [first, second] = [hear(on), hear(on)];
    while (second.events.length === 0) await settle();
    first.stop();
    await closed.promise;
    streams[1]?.end(line('MODIFIED', 'a'));
    expect(await second.ended).toBeUndefined();
    expect(second.events.length).toBe(2);
    expect(await Promise.race([first.ended, Promise.resolve('nothing')])).toBe('nothing');
  });
});

describe('An untrusted server', () => {
  const filler = Buffer.alloc(64 * 1024, 'x');
  const endless = (stream: ServerHttp2Stream, part: Buffer | string): void => {
    stream.respond(json);
    const more = (): void => {
      if (!stream.destroyed && !stream.closed) stream.write(part, more);
    };
    more();
  };

  test.each<readonly [string, Answer, RegExp]>([
    [
      'sends a line without end',
      (stream) => {
        endless(stream, filler);
      },
      /longer than 1000 bytes/,
    ],
    [
      'floods with events',
      (stream) => {
        endless(stream, line('MODIFIED', 'a'));
      },
      /more than 100000 bytes per minute/,
    ],
    ['sends what is no event', (stream) => (stream.respond(json), stream.end('{"a":1}\n')), /not an event/],
    ['sends what is no JSON', (stream) => (stream.respond(json), stream.end('<html>\n')), /not JSON/],
    [
      'resets the stream',
      (stream) => (stream.respond(json), stream.write(line('ADDED', 'a')), stream.destroy(new Error('broken'))),
      /is not reachable/,
    ],
    ['takes leave', (stream) => (stream.respond(json), stream.session?.goaway(0)), /GOAWAY/],
    ['hangs up', (stream) => stream.session?.destroy(), /is not reachable/],
    ['hangs up at once', (stream) => stream.session?.socket.destroy(), /is not reachable/],
  ])('is reported as lost if it %s', async (_how, answer, message) => {
    const { line: on } = await serve(answer, { maxLineBytes: 1000, maxBytesPerMinute: 100_000 });
    const ended = await hear(on).ended;
    expect(ended).toBeInstanceOf(UnreachableError);
    expect(String(ended)).toMatch(message);
  });

  test('cannot send a larger list than allowed', async () => {
    const { line: on } = await serve(
      (stream) => {
        endless(stream, filler);
      },
      {
        maxBodyBytes: 5000,
      },
    );
    await expect(on.list(kinds.ConfigMap, { limit: 1 })).rejects.toThrow(/larger than 5000 bytes/);
    await expect(on.list(kinds.ConfigMap, { limit: 1 })).rejects.toThrow(UnreachableError);
  });

  test('is given up if it does not answer', async () => {
    const mute = createTcpServer(() => undefined);
    await listening(mute);
    cleanups.push(() => void mute.close());
    const clock = new FakeClock();
    const { port } = mute.address() as AddressInfo;
    const on = lineTo({ server: `http://127.0.0.1:${port}` }, { clock });
    const heard = hear(on);
    while (clock.pending < 2) await settle();
    await clock.advance(10_000);
    expect(String(await heard.ended)).toMatch(/no .* within 10 s/);
    expect(clock.pending).toBe(0);
  });

  test('gets a ping every minute', async () => {
    const server = createServer();
    serving(server, (stream) => {
      stream.respond(json);
      stream.write(line('ADDED', 'a'));
    });
    await listening(server);
    await using proxy = await startTcpProxy((server.address() as AddressInfo).port);
    const clock = new FakeClock();
    const on = lineTo({ server: `http://127.0.0.1:${proxy.port}` }, { clock });
    const heard = hear(on);
    while (heard.events.length === 0) await settle();
    await clock.advance(60_000);
    // The answer comes, and the next question is due a minute later.
    while (clock.nextDueMs !== 60_000) await settle();
    proxy.freeze();
    await clock.advance(69_999);
    expect(await Promise.race([heard.ended, Promise.resolve('nothing')])).toBe('nothing');
    await clock.advance(1);
    expect(String(await heard.ended)).toMatch(/no answer to a ping within 10 s/);
    expect(clock.pending).toBe(0);
  });

  test('without HTTP/2 is reported as such', async () => {
    const ca = await serverCa('tenant-ca');
    const pair = await loopbackPair(ca, 'tenant');
    const server = createTlsServer({ key: pair.key, cert: pair.certificate }, (socket) => {
      socket.on('error', () => undefined);
    });
    await listening(server);
    cleanups.push(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const on = lineTo({ server: `https://localhost:${port}`, ca: ca.certificate }, {});
    await expect(on.list(kinds.ConfigMap, { limit: 1 })).rejects.toThrow(/does not speak HTTP\/2/);
  });
});
