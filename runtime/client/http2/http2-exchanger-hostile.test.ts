import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { once } from 'node:events';
import { createServer as createTcpServer } from 'node:net';
import type { Socket } from 'node:net';
import { kinds } from '../../../api/core/kinds.ts';
import { FakeClock, settle } from '../../../testing/fake/fake-clock.ts';
import { json, key, manifest, object, ok, stored, watchOf } from '../../../testing/http2/config-map-answers.ts';
import { Http2World } from '../../../testing/http2/http2-world.ts';
import type { Client } from '../../../testing/http2/http2-world.ts';
import { ApiError, UnreachableError } from '../errors.ts';
import type { ClusterOptions } from '../http-cluster.ts';

let world: Http2World;
beforeEach(() => {
  world = new Http2World();
});
afterEach(() => world[Symbol.asyncDispose]());

const frame = (type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
};
const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const settingsWith = (...pairs: Buffer[]): Buffer =>
  Buffer.concat([frame(4, 0, 0, Buffer.concat(pairs)), frame(4, 1, 0)]);
const settings = settingsWith();
/** Nothing of a request's body may be sent. */
const noWindow = settingsWith(Buffer.from([0, 4]), number(0));
const status200 = frame(1, 4, 1, Buffer.from([0x88]));
/** The same with a content-length. */
const hundredBytes = frame(1, 4, 1, Buffer.concat([Buffer.from([0x88, 0x0f, 13, 3]), Buffer.from('100')]));
const data = (bytes: string, flags = 0, stream = 1): Buffer => frame(0, flags, stream, Buffer.from(bytes));
const reset = (code: number): Buffer => frame(3, 0, 1, number(code));
const goaway = (last: number, code: number): Buffer => frame(7, 0, 0, Buffer.concat([number(last), number(code)]));
const ping = frame(6, 0, 0, Buffer.alloc(8));

/** Whether headers are among the frames behind the 24 bytes with which a connection begins. */
function hasRequest(bytes: Buffer): boolean {
  for (let at = 24; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) if (bytes[at + 3] === 1) return true;
  return false;
}

describe('A hostile server', () => {
  /** Writes bytes of its own making: settings at first, and more from `act` once a request has come. */
  async function raw(
    act: (socket: Socket, connection: number) => void,
    options: Partial<ClusterOptions> = {},
    greeting = settings,
  ): Promise<Client & { readonly connected: () => number }> {
    let connections = 0;
    const sockets = new Set<Socket>();
    const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
      const connection = connections;
      connections += 1;
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.write(greeting);
      let got = Buffer.alloc(0);
      const read = (bytes: Buffer): void => {
        got = Buffer.concat([got, bytes]);
        if (!hasRequest(got)) return;
        socket.off('data', read);
        socket.on('data', () => undefined);
        act(socket, connection);
      };
      socket.on('data', read);
    });
    const port = await world.servers.listen(server);
    return { ...world.clientOf({ server: `http://127.0.0.1:${port}` }, options), connected: () => connections };
  }

  test.each<readonly [string, Buffer, Buffer?]>([
    ['resets the stream as if the client had wanted it', reset(8)],
    ['resets the stream with an error', reset(2)],
    ['resets the stream without an error', reset(0)],
    ['ends the answer before its length', data('', 1), hundredBytes],
  ])('that %s cannot pass off a part as the whole', async (_how, end, head = status200) => {
    const { cluster } = await raw((socket) => void socket.write(Buffer.concat([head, data('# HELP a\n'), end])));
    await expect(cluster.text('/metrics')).rejects.toBeInstanceOf(UnreachableError);
  });

  test.each([
    ['resets the stream without an error', data(object, 1), reset(0)],
    ['ends it with a frame of its own', data(object), data('', 1)],
    ['ends it with trailers', data(object), frame(1, 5, 1, Buffer.from([0, 1, 0x78, 1, 0x79]))],
  ])('that %s after the whole answer is believed', async (_how, ...frames) => {
    const { cluster } = await raw((socket) => void socket.write(Buffer.concat([status200, ...frames])), {}, noWindow);
    expect(await cluster.create(kinds.ConfigMap, manifest)).toMatchObject(stored);
  });

  test('that sends no body sends an empty one', async () => {
    const { cluster } = await raw((socket) => void socket.write(frame(1, 5, 1, Buffer.from([0x88]))));
    expect(await cluster.text('/healthz')).toBe('');
  });

  test('that hangs up in the middle of a text cannot pass off a part as the whole', async () => {
    const { cluster, connected } = await raw(
      (socket) => void socket.end(Buffer.concat([status200, data('# HELP a\n')])),
    );
    await expect(cluster.text('/metrics')).rejects.toThrow(/GET \/metrics: .*closed the connection/);
    // A read is repeated once.
    expect(connected()).toBe(2);
  });

  test('that answers before it has read the body neither blocks the next call nor the end of the client', async () => {
    const answered = (socket: Socket): void => {
      socket.write(Buffer.concat([status200, data(object, 1)]));
      socket.once('data', () => socket.write(Buffer.concat([frame(1, 4, 3, Buffer.from([0x88])), data(object, 1, 3)])));
    };
    const { cluster, connected } = await raw(answered, { connections: 1 }, noWindow);
    expect(await cluster.create(kinds.ConfigMap, manifest)).toMatchObject(stored);
    expect(await cluster.create(kinds.ConfigMap, manifest)).toMatchObject(stored);
    await cluster.close();
    expect(connected()).toBe(1);
  });

  test.each<readonly [string, Buffer, number]>([
    ['with the code of a refusal, for a request that it may have processed', goaway(1, 7), 1],
    ['twice, the second time with that code', Buffer.concat([goaway(2 ** 31 - 1, 0), goaway(1, 7)]), 1],
    ['with an error', goaway(1, 2), 1],
    ['with an error, before the request', goaway(0, 2), 2],
    ['with the code of a refusal, before the request', goaway(0, 7), 2],
    ['before the request', goaway(0, 0), 2],
  ])('that takes leave %s gets a write again only if it was not processed', async (_how, bytes, times) => {
    let requests = 0;
    const { cluster, connected } = await raw((socket, connection) => {
      requests += 1;
      socket.write(connection === 0 ? bytes : Buffer.concat([status200, data(object, 1)]));
    });
    const written: unknown = await cluster.create(kinds.ConfigMap, manifest).catch((error: unknown) => error);
    if (times === 1) expect(String(written)).toMatch(/POST .* is not reachable/);
    else expect(written).toMatchObject(stored);
    expect([requests, connected()]).toEqual([times, times]);
  });

  test('that sends GOAWAY and keeps the connection open is left after half a minute', async () => {
    const clock = new FakeClock();
    const held = Promise.withResolvers<Socket>();
    const { cluster } = await raw(
      (socket, connection) => {
        if (connection === 0) held.resolve(socket);
        socket.write(Buffer.concat([status200, data(object, 1), ...(connection === 0 ? [goaway(1, 0)] : [])]));
      },
      { clock },
    );
    await cluster.get(kinds.ConfigMap, key);
    const socket = await held.promise;
    await once(socket, 'end');
    // The other side of the connection is still open: more of this is read.
    await new Promise((resolve) => socket.write(ping, resolve));
    await clock.advance(29_999);
    expect(socket.closed).toBe(false);
    await clock.advance(1);
    while (!socket.closed) {
      socket.write(ping);
      await settle();
    }
    await cluster.get(kinds.ConfigMap, key);
    // The next look at the new connection.
    expect(clock.pending).toBe(1);
  });

  test('cannot send a larger answer than allowed, and does not block the next call', async () => {
    let asked = 0;
    const { cluster } = await world.serve(
      (stream, path, method) => {
        asked += 1;
        if (asked > 1) {
          ok(stream, path, method);
          return;
        }
        stream.respond(json);
        const chunk = Buffer.alloc(64 * 1024, 'x');
        const more = (): void => {
          if (!stream.destroyed && !stream.closed) stream.write(chunk, more);
        };
        more();
      },
      { maxBodyBytes: 1_000_000 },
    );
    await expect(cluster.get(kinds.ConfigMap, key)).rejects.toThrow(/larger than 1000000 bytes/);
    expect(await cluster.get(kinds.ConfigMap, key)).toMatchObject(stored);
  });

  test.each([
    ['more headers than 64', Object.fromEntries(Array.from({ length: 80 }, (_, n) => [`x-${n}`, 'x']))],
    [
      'larger headers than 64 KiB',
      Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`x-${n}`, 'x'.repeat(1400)])),
    ],
  ])('cannot send %s', async (_what, headers) => {
    const { cluster } = await world.serve((stream) => {
      stream.respond({ ...json, ...headers });
      stream.end(object);
    });
    await expect(cluster.get(kinds.ConfigMap, key)).rejects.toBeInstanceOf(UnreachableError);
  });

  test('cannot delay a call beyond its deadline, before or during the connection, the answer and its body', async () => {
    const short = { timeoutMs: 100 };
    const mute = await raw(() => undefined, short);
    await expect(mute.cluster.get(kinds.ConfigMap, key)).rejects.toThrow(/no answer within 0.1 s/);
    const slow = await world.serve((stream, path) => {
      if (path.endsWith('/b')) {
        stream.respond(json);
        stream.write('{');
      }
    }, short);
    for (const name of ['a', 'b'])
      await expect(slow.cluster.get(kinds.ConfigMap, { ...key, name })).rejects.toThrow(/no answer within 0.1 s/);
    await expect(watchOf(slow.cluster).next()).rejects.toThrow(/no answer within 0.1 s/);
  });

  test.each([
    ['answers neither a call nor a ping', false],
    ['sends what is no answer, and reads nothing', true],
  ])('that %s gets a new connection with the next call', async (_what, sends) => {
    const clock = new FakeClock();
    const heard = Promise.withResolvers<unknown>();
    const { cluster, connected } = await raw(
      (socket, connection) => {
        if (connection > 0) socket.write(Buffer.concat([status200, data(object, 1)]));
        else if (!sends) heard.resolve(undefined);
        else {
          // The client answers that.
          socket.once('data', heard.resolve);
          socket.write(ping);
        }
      },
      { clock, timeoutMs: 10_000 },
    );
    const first = cluster.get(kinds.ConfigMap, key).catch((error: unknown) => error);
    await heard.promise;
    // The deadline, and the next look at the connection, which is there now.
    while (clock.nextDueMs !== 10_000 || clock.pending !== 2) await settle();
    await clock.advance(10_000);
    expect(String(await first)).toMatch(/no answer within 10 s/);
    const second = cluster.get(kinds.ConfigMap, key);
    await clock.advance(4_999);
    expect(connected()).toBe(1);
    await clock.advance(1);
    expect(await second).toMatchObject(stored);
    expect(connected()).toBe(2);
  });

  test('that sends what nobody asked for is left', async () => {
    const clock = new FakeClock();
    const flooded = Promise.withResolvers<undefined>();
    const { cluster, connected } = await raw(
      (socket) => {
        socket.write(Buffer.concat([status200, data(object, 1)]));
        // Frames of a type that there is not, more of them than the system keeps in its buffers.
        const flood = Buffer.alloc(14_000_000, frame(0xbe, 0, 0, Buffer.alloc(15_991)));
        socket.write(flood, () => {
          flooded.resolve(undefined);
        });
      },
      { clock },
    );
    await cluster.get(kinds.ConfigMap, key);
    await flooded.promise;
    await clock.advance(30_000);
    await cluster.get(kinds.ConfigMap, key);
    expect(connected()).toBe(2);
  });

  test('cannot end the process, whatever it sends', async () => {
    const frames = fc.record({
      type: fc.integer({ min: 0, max: 12 }),
      flags: fc.integer({ min: 0, max: 255 }),
      stream: fc.constantFrom(0, 1, 2, 3),
      payload: fc.uint8Array({ maxLength: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(frames, { maxLength: 6 }), fc.uint8Array({ maxLength: 40 }), async (some, rest) => {
        const bytes = some.map(({ type, flags, stream, payload }) => frame(type, flags, stream, Buffer.from(payload)));
        const { cluster } = await raw((socket) => {
          socket.end(Buffer.concat([...bytes, rest]));
        });
        const ended: unknown = await cluster.text('/version').catch((error: unknown) => error);
        expect(ended instanceof UnreachableError || ended instanceof ApiError || typeof ended === 'string').toBe(true);
        await world[Symbol.asyncDispose]();
      }),
      { numRuns: 60 },
    );
  });
});
