import { createServer } from 'node:https';
import type { RequestListener } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';

import { afterEach, expect, test } from '@jest/globals';

import { makeServingMaterial, defaultServingLife } from '../runtime/server/serving-pair.ts';
import { probe } from './probe.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

async function tlsServer(answer: RequestListener): Promise<{ readonly port: number; readonly ca: string }> {
  const names = { dnsNames: ['shop.example'], ipAddresses: ['127.0.0.1'] };
  const { bundle, certificate, key } = await makeServingMaterial({ names, life: defaultServingLife, now: new Date() });
  return { ca: bundle, port: await listen(createServer({ cert: certificate, key }, answer)) };
}

test.each([
  [200, true],
  [401, true],
  [403, true],
  [429, false],
  [500, false],
])('an API server that answers with %i is up: %s', async (code, isUp) => {
  const asked: unknown[] = [];
  const { port, ca } = await tlsServer(({ url, headers }, response) => {
    asked.push(url, headers.host, headers.authorization);
    response.writeHead(code).end();
  });
  const server = { server: 'https://shop.example:6443', ca, dial: { host: '127.0.0.1', port } };
  expect(await probe(server, 5000)).toEqual({ isUp, seconds: expect.any(Number) });
  expect(asked).toEqual(['/readyz', 'shop.example:6443', undefined]);
});

test('a server with a certificate for another name is not up', async () => {
  const { port, ca } = await tlsServer((_, response) => {
    response.end();
  });
  const dial = { host: '127.0.0.1', port };
  expect((await probe({ server: 'https://other.example:6443', ca, dial }, 5000)).isUp).toBe(false);
  const { ca: otherCa } = await tlsServer(() => undefined);
  expect((await probe({ server: 'https://shop.example:6443', ca: otherCa, dial }, 5000)).isUp).toBe(false);
});

test('an address where no server listens, and a server that does not answer, are not up: the second is known only at the timeout', async () => {
  const port = await listen(createTcpServer(() => undefined));
  const { ca } = await tlsServer(() => undefined);
  const silent = await probe({ server: `https://127.0.0.1:${port}`, ca }, 50);
  expect(silent.isUp).toBe(false);
  expect(silent.seconds).toBeGreaterThanOrEqual(0.045);
  expect((await probe({ server: 'https://127.0.0.1:1', ca }, 5000)).isUp).toBe(false);
});

test('an answer without an end is not read', async () => {
  const { port, ca } = await tlsServer((_, response) => {
    response.writeHead(200);
    const pour = (): void => {
      while (response.write(Buffer.alloc(65_536)));
    };
    response.on('drain', pour);
    pour();
  });
  expect((await probe({ server: `https://127.0.0.1:${port}`, ca }, 5000)).isUp).toBe(true);
});

test('interim responses without an end are not read', async () => {
  let sent = 0;
  const { port, ca } = await tlsServer(({ socket }) => {
    const pour = (): void => {
      while (!socket.destroyed && socket.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(1000))) sent += 1;
    };
    socket.on('drain', pour);
    socket.on('error', () => undefined);
    pour();
  });
  const began = performance.now();
  expect((await probe({ server: `https://127.0.0.1:${port}`, ca }, 60_000)).isUp).toBe(false);
  expect(performance.now() - began).toBeLessThan(30_000);
  expect(sent).toBeLessThan(10_000);
});

test.each([
  ['takes the connection over', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'],
  ['ends the connection in the middle of a line', 'HTTP/1.1 20'],
  ['says nothing that is HTTP', 'SSH-2.0-OpenSSH\r\n'],
])('a server that %s is not up, which is known at once', async (_, said) => {
  const { port, ca } = await tlsServer(({ socket }) => {
    socket.on('error', () => undefined);
    socket.end(said);
  });
  const began = performance.now();
  expect((await probe({ server: `https://127.0.0.1:${port}`, ca }, 60_000)).isUp).toBe(false);
  expect(performance.now() - began).toBeLessThan(30_000);
});

test('a name that does not exist is not up', async () => {
  const { ca } = await tlsServer(() => undefined);
  expect((await probe({ server: 'https://nobody.invalid:6443', ca }, 5000)).isUp).toBe(false);
});

test('credentials that cannot be used are no defect of the probe', async () => {
  expect((await probe({ server: 'https://127.0.0.1:1', ca: 'no certificate' }, 5000)).isUp).toBe(false);
});
