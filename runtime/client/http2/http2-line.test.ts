import { afterEach, describe, expect, test } from '@jest/globals';
import { createSecureServer } from 'node:http2';
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { createServer as createTcpServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { kinds } from '../../../api/core/kinds.ts';
import { FakeClock, settle } from '../../../testing/fake/fake-clock.ts';
import { Http2Servers } from '../../../testing/http2/http2-servers.ts';
import type { Http2Answer } from '../../../testing/http2/http2-servers.ts';
import { loopbackPair, serverCa } from '../../../testing/servers/server-certificates.ts';
import { startTcpProxy } from '../../../testing/servers/tcp-proxy.ts';
import { systemClock } from '../../clock.ts';
import type { WatchEvent } from '../cluster.ts';
import type { Connection } from '../connection.ts';
import { ApiError, UnreachableError } from '../errors.ts';
import { openHttp2Line } from './http2-line.ts';
import type { Http2LineOptions } from './http2-line.ts';
import { Http2Sessions } from './http2-sessions.ts';
import type { WatchLine } from '../watch-connection.ts';

const servers = new Http2Servers();
const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
  servers[Symbol.dispose]();
});

type Answer = (stream: ServerHttp2Stream, path: URL, headers: Readonly<Record<string, unknown>>) => void;

interface Served {
  readonly line: WatchLine;
  readonly sessions: ServerHttp2Session[];
}

function lineTo(connection: Connection, options: Partial<Omit<Http2LineOptions, 'sessions'>>): WatchLine {
  const all = { clock: systemClock, random: () => 0, ...options };
  const line = openHttp2Line(connection, { ...all, sessions: new Http2Sessions(all) });
  cleanups.push(() => {
    line.close();
  });
  return line;
}

const byUrl =
  (answer: Answer): Http2Answer =>
  (stream, headers) => {
    answer(stream, new URL(headers[':path'] ?? '', 'http://server'), headers);
  };

/** A server that answers as the test requires, and a connection to it. */
async function serve(answer: Answer, options: Partial<Omit<Http2LineOptions, 'sessions'>> = {}): Promise<Served> {
  const { url, opened } = await servers.serve(byUrl(answer));
  return { line: lineTo({ server: url }, options), sessions: opened };
}

/** A server whose session others hold beside the lines that use it. */
async function share(answer: Answer) {
  const served = await servers.serve(byUrl(answer));
  const clock = new FakeClock();
  const options = { clock, random: () => 0 };
  const sessions = new Http2Sessions(options);
  const connection = { server: served.url };
  const lease = sessions.lease(connection);
  return { ...served, clock, lease, open: () => openHttp2Line(connection, { ...options, sessions }) };
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
    servers.answering(server, (stream) => {
      stream.respond(json);
      stream.end(JSON.stringify({ metadata: { resourceVersion: isKnown ? 'known' : 'stranger' }, items: null }));
    });
    const port = await servers.listen(server);
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

  test('knows since when its connection is there, also if others made it', async () => {
    const { clock, lease, open } = await share(() => undefined);
    await clock.advance(7);
    const opened = await lease.session();
    await clock.advance(5);
    const first = open();
    expect(await first.connectedAt()).toBe(7);
    opened.destroy(new Error('lost'));
    const next = open();
    expect(await next.connectedAt()).toBe(12);
    for (const one of [first, next]) one.close();
    lease.release();
    await expect(lineTo({ server: 'http://127.0.0.1:1' }, {}).connectedAt()).rejects.toThrow(/ECONNREFUSED/);
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

  test('asks nothing anymore once it is closed, while others go on', async () => {
    const asked: string[] = [];
    let pings = 0;
    const { server, opened, clock, lease, open } = await share((_stream, url) => void asked.push(url.search));
    server.on('session', (one) => one.on('ping', () => (pings += 1)));
    await lease.session();
    const timers = clock.pending;
    const closed = open();
    const listed = closed.list(kinds.ConfigMap, { limit: 1 }).catch((error: unknown) => error);
    const heard = hear(closed);
    while (asked.length < 2) await settle();
    expect(clock.pending).toBe(timers + 2);
    closed.close();
    expect(clock.pending).toBe(timers);
    expect(String(await listed)).toMatch(/the connection has been closed/);
    expect(String(await closed.list(kinds.ConfigMap, { limit: 1 }).catch((error: unknown) => error))).toMatch(
      /the connection has been closed/,
    );
    await clock.advance(20_000);
    expect([pings, opened.length]).toEqual([0, 1]);
    expect(await Promise.race([heard.ended, Promise.resolve('nothing')])).toBe('nothing');
    lease.release();
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
    ['sends GOAWAY', (stream) => (stream.respond(json), stream.session?.goaway(0)), /GOAWAY/],
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
    const clock = new FakeClock();
    const on = lineTo({ server: `http://127.0.0.1:${await servers.listen(mute)}` }, { clock });
    const heard = hear(on);
    while (clock.pending < 2) await settle();
    await clock.advance(10_000);
    expect(String(await heard.ended)).toMatch(/no .* within 10 s/);
    expect(clock.pending).toBe(0);
  });

  test('gets a ping when it is silent for half a minute', async () => {
    const { url } = await servers.serve((stream) => {
      stream.respond(json);
      stream.write(line('ADDED', 'a'));
    });
    await using proxy = await startTcpProxy(Number(new URL(url).port));
    const clock = new FakeClock();
    const on = lineTo({ server: `http://127.0.0.1:${proxy.port}` }, { clock });
    const heard = hear(on);
    while (heard.events.length === 0) await settle();
    // What has come since the last look shows that it is there; the answer to the ping after that does, too.
    await clock.advance(30_000);
    await clock.advance(30_000);
    while (clock.nextDueMs !== 30_000) await settle();
    await clock.advance(30_000);
    proxy.freeze();
    await clock.advance(44_999);
    expect(await Promise.race([heard.ended, Promise.resolve('nothing')])).toBe('nothing');
    await clock.advance(1);
    expect(String(await heard.ended)).toMatch(/no answer to a ping within 15 s/);
    expect(clock.pending).toBe(0);
  });

  test('without HTTP/2 is reported as such', async () => {
    const ca = await serverCa('tenant-ca');
    const pair = await loopbackPair(ca, 'tenant');
    const server = createTlsServer({ key: pair.key, cert: pair.certificate }, (socket) => {
      socket.on('error', () => undefined);
    });
    const port = await servers.listen(server);
    const on = lineTo({ server: `https://localhost:${port}`, ca: ca.certificate }, {});
    await expect(on.list(kinds.ConfigMap, { limit: 1 })).rejects.toThrow(/does not speak HTTP\/2/);
  });
});
