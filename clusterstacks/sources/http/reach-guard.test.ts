import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { ClosedPlaceError, ReachGuard } from './reach-guard.ts';

let inside: Server;
let port: number;
const arrived: Socket[] = [];

beforeEach(async () => {
  arrived.length = 0;
  inside = createServer((socket) => void arrived.push(socket)).listen(0, '127.0.0.1');
  await once(inside, 'listening');
  ({ port } = inside.address() as AddressInfo);
});

afterEach(() => {
  for (const socket of arrived) socket.destroy();
  inside.close();
});

const guard = (home: string): ReachGuard =>
  new ReachGuard({ home: new URL(home), closed: [], connection: { timeout: 5000 } });

/** What the connection ends with: an error, or the socket. */
const reach = (from: ReachGuard, hostname: string): Promise<Error | Socket> => {
  const { promise, resolve } = Promise.withResolvers<Error | Socket>();
  from.connect({ hostname, host: hostname, protocol: 'http:', port: String(port) }, (error, socket) => {
    resolve(error ?? socket);
  });
  return promise;
};

test('no connection is opened to a name that resolves to a private address', async () => {
  expect(await reach(guard('https://charts.example.com'), 'localhost')).toBeInstanceOf(ClosedPlaceError);
  // Connections arrive in their order: had there been one before, it would stand first.
  const own = connect(port, '127.0.0.1');
  await Promise.all([once(own, 'connect'), once(inside, 'connection')]);
  expect(arrived.map(({ remotePort }) => remotePort)).toEqual([own.localPort]);
  own.destroy();
});

test('a source with a private address is reached by its name', async () => {
  const socket = await reach(guard('http://localhost'), 'localhost');
  expect(socket).toMatchObject({ remotePort: port });
  (socket as Socket).destroy();
});
