import { once } from 'node:events';
import { createServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { systemClock } from '../../runtime/clock.ts';
import { loopbackPair, serverCa } from '../../testing/servers/server-certificates.ts';
import { apiServerAnswers } from './api-server-answers.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function portOf(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const asks = (port: number, signal = new AbortController().signal, answerMs = 5_000): Promise<boolean> =>
  apiServerAnswers({ host: '127.0.0.1', port }, { clock: systemClock, answerMs, signal });

test.each([
  [200, true],
  [401, false],
  [500, false],
])('An API server that answers with %d is ready: %s', async (code, isReady) => {
  const pair = await loopbackPair(await serverCa('ca'), 'kube-apiserver');
  const seen: string[] = [];
  const server = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization ?? 'without credentials'}`);
    response.writeHead(code);
    // However long the answer is, it is not read.
    response.write('ok');
  });
  expect(await asks(await portOf(server))).toBe(isReady);
  expect(seen).toEqual(['GET /readyz without credentials']);
  server.closeAllConnections();
});

test('One that does not listen is not ready', async () => {
  const server = createTcpServer();
  const port = await portOf(server);
  server.close();
  await once(server, 'close');
  expect(await asks(port)).toBe(false);
});

test('One that says nothing is not ready when time is up, or when nobody waits anymore', async () => {
  const sockets: { destroy(): unknown }[] = [];
  const port = await portOf(createTcpServer((socket) => sockets.push(socket)));
  expect(await asks(port, undefined, 20)).toBe(false);
  expect(await asks(port, AbortSignal.abort(new Error('gone')))).toBe(false);
  for (const socket of sockets) socket.destroy();
});
