import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

import { afterEach, describe, expect, test } from '@jest/globals';

import { sayHello } from './say-hello.ts';
import type { HelloTarget } from './say-hello.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function serverThat(does: (socket: Socket) => void): Promise<HelloTarget> {
  const server = createServer(does);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}

describe('A hostile hello', () => {
  test('is closed by a server that reads it', async () => {
    const heard: Buffer[] = [];
    const target = await serverThat((socket) =>
      socket.once('data', (bytes: Buffer) => {
        heard.push(bytes);
        socket.destroy();
      }),
    );
    expect(await sayHello(target, { kind: 'garbage', bytes: Buffer.from('abc') })).toBe('closed');
    expect(await sayHello(target, { kind: 'slow', bytes: Buffer.from('abc') })).toBe('closed');
    expect(heard.map(String)).toEqual(['abc', 'a']);
  });

  test('is answered by a server that says something', async () => {
    const target = await serverThat((socket) => socket.end('HTTP/1.0 400 Bad Request'));
    expect(await sayHello(target, { kind: 'nothing', bytes: Buffer.alloc(0) })).toBe('answered');
  });

  test('is refused where nobody listens', async () => {
    const target = await serverThat(() => undefined);
    for (const server of servers.splice(0)) {
      server.close();
      await once(server, 'close');
    }
    expect(await sayHello(target, { kind: 'garbage', bytes: Buffer.from('abc') })).toBe('refused');
  });
});
