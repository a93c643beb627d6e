import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ClientHelloReader, mostHelloBytes } from './client-hello.ts';
import type { HelloReading } from './client-hello.ts';

/** What Node's TLS client says first. */
async function realHello(options: ConnectionOptions = {}): Promise<Buffer> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect({ host: '127.0.0.1', port, ...options });
  client.on('error', () => {
    // The server never answers.
    client.destroy();
  });
  const [socket] = (await once(server, 'connection')) as [NodeJS.ReadableStream & { destroy: () => void }];
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  socket.destroy();
  server.close();
  return bytes;
}

function readAll(chunks: readonly Uint8Array[]): HelloReading {
  const reader = new ClientHelloReader();
  for (const chunk of chunks) reader.push(chunk);
  return reader.reading;
}

const record = (payload: Uint8Array): Buffer => {
  const header = Buffer.from([22, 3, 1, 0, 0]);
  header.writeUInt16BE(payload.length, 3);
  return Buffer.concat([header, payload]);
};

/** The same message in records of other sizes. */
function inRecords(hello: Buffer, sizes: readonly number[]): Buffer {
  let left = hello.subarray(5);
  const records: Buffer[] = [];
  for (const size of sizes) {
    if (left.length === 0) break;
    records.push(record(left.subarray(0, size)));
    left = left.subarray(size);
  }
  return Buffer.concat([...records, ...(left.length > 0 ? [record(left)] : [])]);
}

/** The bytes in pieces that end at the given places. */
function cut(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...ends].map((from, index) => bytes.subarray(from, ends[index] ?? bytes.length));
}

describe('A ClientHello', () => {
  test.each<[string, ConnectionOptions]>([
    ['of TLS 1.3', {}],
    ['of TLS 1.2 alone', { maxVersion: 'TLSv1.2' }],
    ['with a server name', { servername: 'shop.tenants.example.com' }],
    ['with protocols', { ALPNProtocols: ['h2', 'http/1.1'] }],
    ['with one cipher', { ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256', maxVersion: 'TLSv1.2' }],
  ])('%s is complete with its last byte and not before', async (_name, options) => {
    const hello = await realHello(options);
    const reader = new ClientHelloReader();
    for (const byte of hello.subarray(0, -1)) {
      reader.push(Uint8Array.of(byte));
      expect(reader.reading).toEqual({ is: 'partial' });
    }
    reader.push(hello.subarray(-1));
    expect(reader.reading).toEqual({ is: 'complete' });
    expect(reader.bytes.equals(hello)).toBe(true);
  });

  test('is the same in pieces and records of any size, and its bytes are kept as they came', async () => {
    const hello = await realHello({ servername: 'shop.example.com' });
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 300 }),
        fc.array(fc.nat({ max: 4000 }), { maxLength: 40 }),
        (sizes, places) => {
          const bytes = inRecords(hello, sizes);
          const reader = new ClientHelloReader();
          for (const chunk of cut(bytes, places)) reader.push(chunk);
          expect(reader.reading).toEqual({ is: 'complete' });
          expect(reader.bytes.equals(bytes)).toBe(true);
        },
      ),
    );
  });

  test('may be followed by other bytes, which are kept as far as there is room', async () => {
    const hello = await realHello();
    const reader = new ClientHelloReader();
    expect(reader.push(Buffer.concat([hello, Buffer.from('early')]))).toBe(true);
    expect(reader.reading).toEqual({ is: 'complete' });
    expect(reader.bytes.subarray(hello.length).toString()).toBe('early');
    expect(reader.push(Buffer.alloc(mostHelloBytes))).toBe(false);
    expect(reader.reading).toEqual({ is: 'complete' });
    expect(reader.bytes).toHaveLength(hello.length + 5);
  });

  test('of which one length is wrong is refused or never complete', async () => {
    const hello = await realHello({ servername: 'shop.example.com' });
    // Session, ciphers, compression and extensions begin after the random bytes.
    const session = 5 + 4 + 2 + 32;
    const ciphers = session + 1 + (hello[session] ?? 0);
    const compressions = ciphers + 2 + hello.readUInt16BE(ciphers);
    const extensions = compressions + 1 + (hello[compressions] ?? 0);
    for (const place of [4, 8, session, ciphers + 1, compressions, extensions + 1, extensions + 5]) {
      for (const by of [-1, 1]) {
        const wrong = Buffer.from(hello);
        wrong.writeUInt8(((wrong[place] ?? 0) + by) & 0xff, place);
        expect([place, by, readAll([wrong]).is === 'complete']).toEqual([place, by, false]);
      }
    }
  });

  test('of an older version is refused', async () => {
    const hello = Buffer.from(await realHello({ maxVersion: 'TLSv1.2' }));
    hello.writeUInt16BE(0x0302, 9);
    expect(readAll([hello])).toEqual({ is: 'refused', why: 'OldVersion' });
  });

  test('that is longer than the limit is refused before it has arrived', () => {
    const begin = record(Buffer.from([1, 0, 0x40, 0, 3, 3]));
    expect(readAll([begin])).toEqual({ is: 'refused', why: 'TooLong' });
    // Records of one byte each take six: the message itself is not too long.
    const body = Buffer.alloc(8_000);
    const message = Buffer.concat([Buffer.from([1, 0, 8_000 >> 8, 8_000 & 0xff]), body]);
    const records = Array.from(message, (byte) => record(Uint8Array.of(byte)));
    expect(readAll(records)).toEqual({ is: 'refused', why: 'TooLong' });
  });
});

describe('What is no ClientHello', () => {
  test.each([
    ['a request of HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n'), 'NotTls'],
    ['a hello of SSH', Buffer.from('SSH-2.0-OpenSSH_9.6\r\n'), 'NotTls'],
    ['a header of the PROXY protocol', Buffer.from('PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n'), 'NotTls'],
    ['an alert', Buffer.from([21, 3, 3, 0, 2, 2, 40]), 'NotTls'],
    ['another message', record(Buffer.from([2, 0, 0, 1, 0])), 'Malformed'],
    ['an empty record', record(Buffer.alloc(0)), 'Malformed'],
    ['a record that is too long', Buffer.from([22, 3, 1, 0x40, 1, 1]), 'Malformed'],
    ['an empty hello', record(Buffer.from([1, 0, 0, 0])), 'Malformed'],
    ['version 2 of SSL', Buffer.from([0x80, 0x2e, 1, 0, 2]), 'NotTls'],
  ])('is refused: %s', (_name, bytes, why) => {
    expect(readAll([bytes])).toEqual({ is: 'refused', why });
  });

  test('is never complete, and never kept beyond the limit, whatever it is', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 3_000 }), { maxLength: 20 }), (chunks) => {
        const reader = new ClientHelloReader();
        for (const chunk of chunks) reader.push(chunk);
        expect(reader.bytes.length).toBeLessThanOrEqual(mostHelloBytes);
        expect(reader.reading.is).not.toBe('complete');
      }),
    );
  });

  test('is never complete behind a valid header either', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.boolean(), (body, isNew) => {
        const message = Buffer.concat([Buffer.from([1, 0, body.length >> 8, body.length & 0xff]), body]);
        if (isNew && body.length > 1) message.writeUInt16BE(0x0303, 4);
        const { is } = readAll([record(message)]);
        // Random bytes whose lengths fit are rarer than this test looks for.
        expect(is).toBe('refused');
      }),
    );
  });
});
