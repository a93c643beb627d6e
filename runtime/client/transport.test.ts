import { afterEach, describe, expect, test } from '@jest/globals';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kinds } from '../../api/core/kinds.ts';
import { FakeClock, settle } from '../../testing/fake/fake-clock.ts';
import { contactCheck } from '../observe/http-endpoints.ts';
import { systemClock } from '../clock.ts';
import type { Cluster } from './cluster.ts';
import type { Connection } from './connection.ts';
import { ApiError, UnreachableError } from './errors.ts';
import { openCluster, type ClusterOptions } from './http-cluster.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server that answers as the test requires, and a client of it. */
async function serve(
  answer: Answer,
  more: Partial<Connection> = {},
  options: Partial<ClusterOptions> = {},
  prefix = '',
): Promise<Cluster> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const cluster = openCluster({ server: `http://127.0.0.1:${port}${prefix}`, ...more }, { name: 'tenant', ...options });
  cleanups.push(async () => {
    server.closeAllConnections();
    server.close();
    await cluster.close();
  });
  return cluster;
}

const key = { namespace: 'n', name: 'a' };
const stored = (name: string) => ({ metadata: { name, namespace: 'n', uid: 'u', resourceVersion: '8' } });
const object = JSON.stringify(stored('a'));
const json = (response: ServerResponse, code: number, body: string, headers: Record<string, string> = {}): void => {
  response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(body);
};

describe('An untrusted server', () => {
  test('cannot send a larger answer than allowed', async () => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    let sent = 0;
    const cluster = await serve(
      (_request, response) => {
        const more = (): void => {
          sent += chunk.length;
          if (!response.destroyed) response.write(chunk, more);
        };
        more();
      },
      {},
      { maxBodyBytes: 1_000_000 },
    );
    await expect(cluster.get(kinds.ConfigMap, key)).rejects.toThrow(/larger than 1000000 bytes/);
    expect(sent).toBeLessThan(50_000_000);
  });

  test.each([
    ['lines', 'x\n'],
    ['empty lines, which are left out', '\n'],
    ['spaces at the end of a line, which are left out', ' '.repeat(1023) + '\n'],
  ])('cannot send more %s than allowed', async (_what, text) => {
    const chunk = Buffer.from(text.repeat(Math.ceil(1024 / text.length)));
    let sent = 0;
    const cluster = await serve(
      (_request, response) => {
        const more = (): void => {
          sent += chunk.length;
          if (!response.destroyed) response.write(chunk, more);
        };
        more();
      },
      {},
      { maxBodyBytes: 100_000 },
    );
    const read = async (): Promise<void> => {
      for await (const line of cluster.lines('/metrics', { signal: AbortSignal.timeout(20_000) })) {
        if (line.length > 1) throw new Error('a line that was not sent');
      }
    };
    await expect(read()).rejects.toThrow(/larger than 100000 bytes/);
    expect(sent).toBeLessThan(50_000_000);
  });

  test('is not sent more once the reader of lines has what it needs', async () => {
    const closed = Promise.withResolvers<undefined>();
    const cluster = await serve((_request, response) => {
      response.write('a\nb\nc\n');
      response.on('close', () => {
        closed.resolve(undefined);
      });
    });
    const read: string[] = [];
    for await (const line of cluster.lines('/metrics', { signal: AbortSignal.timeout(20_000) })) {
      read.push(line);
      if (line === 'b') break;
    }
    expect(read).toEqual(['a', 'b']);
    await closed.promise;
  });

  test('whose lines cannot be read is reported with its refusal', async () => {
    const cluster = await serve((_request, response) => {
      json(response, 403, JSON.stringify({ kind: 'Status', reason: 'Forbidden', message: 'not you' }));
    });
    const lines = cluster.lines('/metrics', { signal: AbortSignal.timeout(20_000) })[Symbol.asyncIterator]();
    await expect(lines.next()).rejects.toMatchObject({ code: 403, reason: 'Forbidden' });
  });

  test('gets the credentials of its own connection and no others, also when that has none', async () => {
    const seen: unknown[] = [];
    const answer: Answer = ({ headers }, response) => {
      seen.push([headers.authorization, headers['proxy-authorization'], headers.cookie]);
      json(response, 200, object, { 'set-cookie': 'a=b' });
    };
    const [none, theirs] = [await serve(answer), await serve(answer, { token: 'theirs' })];
    for (const cluster of [theirs, none, theirs, none]) await cluster.get(kinds.ConfigMap, key);
    const [without, withToken] = [
      [undefined, undefined, undefined],
      ['Bearer theirs', undefined, undefined],
    ];
    expect(seen).toEqual([withToken, without, withToken, without]);
  });

  test('cannot send an endless list of small pages', async () => {
    let pages = 0;
    const body = JSON.stringify({
      metadata: { resourceVersion: '1', continue: 'more' },
      items: [stored('x'.repeat(10_000))],
    });
    const cluster = await serve(
      (_request, response) => {
        pages += 1;
        json(response, 200, body);
      },
      {},
      { maxBodyBytes: 100_000 },
    );
    await expect(cluster.list(kinds.ConfigMap)).rejects.toThrow(/larger than 100000 bytes/);
    expect(pages).toBe(10);
  });

  test('cannot send a larger event than 8 MiB', async () => {
    const cluster = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(Buffer.alloc(9 * 1024 * 1024, 'x'));
    });
    const watching = cluster.watch(kinds.ConfigMap, { signal: new AbortController().signal });
    await expect(watching[Symbol.asyncIterator]().next()).rejects.toThrow(/longer than 8388608 bytes/);
  });

  test('cannot send larger headers than 32 KiB', async () => {
    const cluster = await serve((_request, response) => {
      for (let index = 0; index < 40; index += 1) response.setHeader(`x-${index}`, 'x'.repeat(1000));
      json(response, 200, object);
    });
    await expect(cluster.get(kinds.ConfigMap, key)).rejects.toBeInstanceOf(UnreachableError);
  });

  test('cannot delay a request beyond its deadline, before or during the answer', async () => {
    const cluster = await serve(
      (request, response) => {
        if (request.url?.endsWith('slow') === true) response.writeHead(200).write('{');
      },
      {},
      { timeoutMs: 100 },
    );
    await expect(cluster.get(kinds.ConfigMap, key)).rejects.toThrow(/not reachable: no answer within 0.1 s/);
    await expect(cluster.get(kinds.ConfigMap, { ...key, name: 'slow' })).rejects.toThrow(/no answer within 0.1 s/);
    const watching = cluster.watch(kinds.ConfigMap, { signal: new AbortController().signal });
    await expect(watching[Symbol.asyncIterator]().next()).rejects.toThrow(/no answer within 0.1 s/);
  });

  test('cannot delay a request beyond its deadline by a connection that leads nowhere', async () => {
    const sockets: Socket[] = [];
    const server = createTcpServer((socket) => sockets.push(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const cluster = openCluster({ server: `https://127.0.0.1:${port}` }, { name: 'tenant', timeoutMs: 100 });
    cleanups.push(async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await cluster.close();
    });
    const began = performance.now();
    await expect(cluster.get(kinds.ConfigMap, key)).rejects.toThrow(/not reachable: no answer within 0.1 s/);
    const watching = cluster.watch(kinds.ConfigMap, { signal: new AbortController().signal });
    await expect(watching[Symbol.asyncIterator]().next()).rejects.toThrow(/no answer within 0.1 s/);
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  test('cannot delay a request behind others, and is not sent requests that were given up', async () => {
    const urls: string[] = [];
    const held: ServerResponse[] = [];
    const cluster = await serve(
      (request, response) => {
        urls.push(request.url ?? '');
        held.push(response);
      },
      {},
      { connections: 1, timeoutMs: 60_000 },
    );
    const first = cluster.get(kinds.ConfigMap, key);
    const impatient = new AbortController();
    const second = cluster.create(
      kinds.ConfigMap,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: key },
      { signal: impatient.signal },
    );
    while (held.length === 0) await settle();
    impatient.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    held[0]?.end(object);
    await first;
    const third = cluster.get(kinds.ConfigMap, { ...key, name: 'b' });
    while (held.length === 1) await settle();
    held[1]?.end(object);
    await third;
    expect(urls.map((url) => url.split('/').at(-1))).toEqual(['a', 'b']);
  });

  test.each([
    ['HTML', '<html>', /not JSON; is there a proxy/],
    ['null', 'null', /not a ConfigMap/],
    ['an array', '[]', /not a ConfigMap/],
    ['null metadata', '{"metadata":null}', /not a ConfigMap/],
  ])('%s is not accepted as an object', async (_what, body, message) => {
    const cluster = await serve((_request, response) => {
      json(response, 200, body);
    });
    await expect(cluster.get(kinds.ConfigMap, key)).rejects.toThrow(message);
    await expect(cluster.list(kinds.ConfigMap)).rejects.toBeInstanceOf(UnreachableError);
  });

  test('a list whose items are null is empty', async () => {
    const cluster = await serve((_request, response) => {
      json(response, 200, '{"metadata":{"resourceVersion":"7"},"items":null}');
    });
    expect(await cluster.list(kinds.ConfigMap)).toEqual({ items: [], resourceVersion: '7' });
  });

  test('cannot redirect the client to another server', async () => {
    const cluster = await serve((_request, response) => {
      json(response, 307, '', { location: 'http://127.0.0.1:1/' });
    });
    await expect(cluster.get(kinds.ConfigMap, key)).rejects.toMatchObject({ name: 'ApiError', code: 307 });
  });
});

describe('A refused request', () => {
  test('has the code, reason, message and retry delay of the server', async () => {
    const status = {
      kind: 'Status',
      code: 429,
      reason: 'TooManyRequests',
      message: 'wait',
      details: { retryAfterSeconds: 9 },
    };
    const cluster = await serve((_request, response) => {
      json(response, 429, JSON.stringify(status));
    });
    await expect(cluster.get(kinds.ConfigMap, key)).rejects.toMatchObject({
      code: 429,
      reason: 'TooManyRequests',
      message: 'wait',
      retryAfterMs: 9000,
    });
  });

  test('is repeated if the server requests a short delay, but not forever', async () => {
    let calls = 0;
    const cluster = await serve((_request, response) => {
      calls += 1;
      json(response, 503, 'starting', { 'retry-after': '0' });
    });
    const refused = cluster.create(kinds.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: key });
    await expect(refused).rejects.toMatchObject({
      code: 503,
      reason: 'ServiceUnavailable',
      message: 'starting',
      retryAfterMs: 0,
    });
    expect(calls).toBe(4);
  });

  test('is not repeated if the delay is long', async () => {
    let calls = 0;
    const cluster = await serve((_request, response) => {
      calls += 1;
      json(response, 429, '', { 'retry-after': '60' });
    });
    await expect(cluster.get(kinds.ConfigMap, key)).rejects.toMatchObject({ code: 429, retryAfterMs: 60_000 });
    expect(calls).toBe(1);
  });

  test('is not repeated after another error, which may come after the server did something', async () => {
    let calls = 0;
    const cluster = await serve((_request, response) => {
      calls += 1;
      json(response, 500, 'broken', { 'retry-after': '0' });
    });
    const failed = cluster.create(kinds.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: key });
    await expect(failed).rejects.toMatchObject({ code: 500 });
    expect(calls).toBe(1);
  });

  test('is repeated after a reset if it reads, and never if it writes', async () => {
    const calls: string[] = [];
    const cluster = await serve((request, response) => {
      calls.push(request.method ?? '');
      if (calls.length === 2) json(response, 200, object);
      else request.socket.resetAndDestroy();
    });
    expect(await cluster.get(kinds.ConfigMap, key)).toMatchObject({ metadata: { name: 'a' } });
    const written = cluster.create(kinds.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: key });
    await expect(written).rejects.toBeInstanceOf(UnreachableError);
    expect(calls).toEqual(['GET', 'GET', 'POST']);
  });
});

describe('a connection', () => {
  test('that is refused reports the address, and keeps the cause', async () => {
    const cluster = openCluster({ server: 'https://127.0.0.1:1' }, { name: 'tenant' });
    const error = await cluster.text('/version').then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(UnreachableError);
    expect(error).toMatchObject({
      message: expect.stringContaining('GET /version: https://127.0.0.1:1 is not reachable'),
      cause: { code: 'ECONNREFUSED' },
    });
    await cluster.close();
  });

  test('with credentials that cannot be used is refused at once', () => {
    const open = () => openCluster({ server: 'https://a', clientCert: 'no', clientKey: 'PEM' }, { name: 'tenant' });
    expect(open).toThrow(/credentials for https:\/\/a cannot be used/);
  });

  test('without TLS is refused', () => {
    expect(() => openCluster({ server: 'http://a', token: 'secret' }, { name: 'tenant' })).toThrow(
      /^http:\/\/a: only https/,
    );
  });

  test('reads its token file again after a refusal', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'token-'));
    cleanups.push(() => rm(folder, { recursive: true }));
    const tokenFile = join(folder, 'token');
    await writeFile(tokenFile, 'one\n');
    let valid = 'Bearer one';
    const cluster = await serve(
      (request, response) => {
        json(response, request.headers.authorization === valid ? 200 : 401, object);
      },
      { tokenFile },
    );
    await cluster.get(kinds.ConfigMap, key);
    await writeFile(tokenFile, 'two\n');
    valid = 'Bearer two';
    await cluster.get(kinds.ConfigMap, key);
    valid = 'Bearer three';
    await expect(cluster.get(kinds.ConfigMap, key)).rejects.toBeInstanceOf(ApiError);
  });

  test('keeps the path prefix of its server', async () => {
    const paths: (string | undefined)[] = [];
    const cluster = await serve(
      (request, response) => {
        paths.push(request.url);
        json(response, 200, object);
      },
      {},
      {},
      '/clusters/a',
    );
    await cluster.get(kinds.ConfigMap, key);
    expect(paths).toEqual(['/clusters/a/api/v1/namespaces/n/configmaps/a']);
  });

  test('rejects a call with the reason of its own signal', async () => {
    const cluster = await serve(() => undefined);
    const stop = new AbortController();
    const reading = cluster.get(kinds.ConfigMap, key, { signal: stop.signal });
    const reason = new Error('enough');
    stop.abort(reason);
    await expect(reading).rejects.toBe(reason);
  });
});

describe('A watch whose reader is busy', () => {
  const line = `${JSON.stringify({ type: 'ADDED', object: stored('a') })}\n`;

  test.each(['the server resets it', 'its signal aborts'])('reports at its next read that %s', async (how) => {
    const gone = Promise.withResolvers<undefined>();
    const sockets: IncomingMessage['socket'][] = [];
    const cluster = await serve((request, response) => {
      sockets.push(request.socket);
      request.socket.on('close', () => {
        gone.resolve(undefined);
      });
      response.writeHead(200).write(line);
    });
    const stop = new AbortController();
    const events = cluster.watch(kinds.ConfigMap, { signal: stop.signal })[Symbol.asyncIterator]();
    await events.next();
    if (how === 'its signal aborts') stop.abort(new Error('enough'));
    else sockets[0]?.resetAndDestroy();
    await gone.promise;
    for (let turn = 0; turn < 20; turn += 1) await settle();
    await expect(events.next()).rejects.toThrow(how === 'its signal aborts' ? 'enough' : /not reachable/);
  });

  test('releases its connection when the reader stops', async () => {
    const gone = Promise.withResolvers<undefined>();
    const cluster = await serve((request, response) => {
      request.socket.on('close', () => {
        gone.resolve(undefined);
      });
      response.writeHead(200).write(line);
    });
    for await (const event of cluster.watch(kinds.ConfigMap, { signal: new AbortController().signal })) {
      expect(event.type).toBe('ADDED');
      break;
    }
    await gone.promise;
  });
});

describe('A server that cannot stream lists', () => {
  test('is listed in pages and then watched, and gets no further request to stream', async () => {
    const urls: string[] = [];
    const event = JSON.stringify({ type: 'ADDED', object: stored('c') });
    const cluster = await serve((request, response) => {
      const url = new URL(request.url ?? '', 'http://a');
      const query = url.searchParams;
      urls.push(
        query.has('sendInitialEvents')
          ? 'stream'
          : query.has('watch')
            ? `watch ${query.get('resourceVersion') ?? ''}`
            : `list ${query.get('continue') ?? ''}`,
      );
      if (query.has('sendInitialEvents'))
        json(response, 422, '{"kind":"Status","code":422,"reason":"Invalid","message":"sendInitialEvents: Forbidden"}');
      else if (query.has('watch')) json(response, 200, `${event}\n`);
      else if (query.has('continue'))
        json(response, 200, JSON.stringify({ metadata: { resourceVersion: '7' }, items: [stored('b')] }));
      else
        json(
          response,
          200,
          JSON.stringify({ metadata: { resourceVersion: '7', continue: 'x' }, items: [stored('a')] }),
        );
    });
    for (let round = 0; round < 2; round += 1) {
      const lines: string[] = [];
      for await (const one of cluster.watch(kinds.ConfigMap, { signal: new AbortController().signal })) {
        lines.push('object' in one ? `${one.type} ${one.object.metadata.name}` : `${one.type} ${one.resourceVersion}`);
      }
      expect(lines).toEqual(['ADDED a', 'ADDED b', 'SYNC 7', 'ADDED c']);
    }
    expect(urls).toEqual(['stream', 'list ', 'list x', 'watch 7', 'list ', 'list x', 'watch 7']);
  });
});

test('The last contact does not get old because somebody sets the clock on the wall', async () => {
  const wall = new FakeClock();
  const clock = { ...systemClock, now: () => wall.now() };
  const cluster = await serve(
    (_, response) => {
      json(response, 200, object);
    },
    {},
    { clock },
  );
  await cluster.get(kinds.ConfigMap, key);
  const contact = contactCheck(cluster, clock);
  await wall.advance(3_600_000);
  expect(contact.check()).toBeUndefined();
});
