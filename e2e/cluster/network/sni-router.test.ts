import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, test } from '@jest/globals';
import { serverNameOf, startSniRouter } from './sni-router.ts';

/** The first bytes that a TLS client sends. */
async function helloFor(servername: string | undefined): Promise<Buffer> {
  const got = Promise.withResolvers<Buffer>();
  const server = createServer((socket) => {
    socket.once('data', (bytes: Buffer) => {
      got.resolve(bytes);
      socket.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const client = connectTls({ port, host: '127.0.0.1', servername });
  client.on('error', () => undefined);
  try {
    return await got.promise;
  } finally {
    client.destroy();
    server.close();
  }
}

describe('The name that a TLS client requests', () => {
  test('is known once the whole first record has arrived, and not before', async () => {
    const hello = await helloFor('tenant.k8s.example.org');
    for (let length = 0; length < hello.length; length += 1) {
      expect(serverNameOf(hello.subarray(0, length))).toBeUndefined();
    }
    expect(serverNameOf(hello)).toBe('tenant.k8s.example.org');
  });

  test('is empty if there is none, or no TLS', async () => {
    expect(serverNameOf(await helloFor(undefined))).toBe('');
    expect(serverNameOf(Buffer.from('GET / HTTP/1.1\r\n\r\n'))).toBe('');
  });

  test('leads nowhere if it is unknown', async () => {
    await using router = await startSniRouter();
    const client = connect(router.port, '127.0.0.1');
    client.write(await helloFor('other.example.org'));
    await once(client, 'close');
    expect(client.bytesRead).toBe(0);
  });
});
