import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FakeClock, settle } from '../../testing/fake/fake-clock.ts';
import { codeOfRaw, exchangeRaw, openRaw, untilClosed } from '../../testing/servers/raw-exchange.ts';
import type { RawTarget } from '../../testing/servers/raw-exchange.ts';
import { AdmissionServer } from '../admission/admission-server.ts';
import { HttpEndpoints } from '../observe/http-endpoints.ts';
import { silent } from '../observe/logger.ts';
import type { Logger } from '../observe/logger.ts';
import { defaultServingLife, makeServingMaterial } from './serving-pair.ts';

const targets = [
  '//',
  '/\\',
  '//[',
  '//:99999/',
  '//a%zz',
  'http://[',
  'http://a:99999/',
  '*',
  '/%',
  '/..//..',
  '//x/ok',
];
const methods = ['GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE'];
const requests = targets.flatMap((target) => methods.map((method) => [method, target] as const));

const servers = {
  async endpoints() {
    const server = new HttpEndpoints({ '/ok': () => ({ code: 200, type: 'text/plain', body: 'ok' }) }, silent);
    const port = await server.listen('127.0.0.1:0');
    return { at: { port }, good: 'GET /ok HTTP/1.1', close: () => server.close() };
  },
  async admission(log: Logger = silent) {
    const server = new AdmissionServer({
      handlers: { '/ok': () => ({ allowed: true }) },
      clock: new FakeClock(),
      log,
    });
    const names = { dnsNames: ['localhost'], ipAddresses: [] };
    const pair = await makeServingMaterial({ names, life: defaultServingLife, now: new Date() });
    const port = await server.listen({ host: '127.0.0.1', port: 0 }, pair);
    return { at: { port, tls: true }, good: 'POST /ok HTTP/1.1', close: () => server.close() };
  },
};

describe.each(['endpoints', 'admission'] as const)('The server of the %s', (which) => {
  let at: RawTarget;
  let good: string;
  let close: () => Promise<void>;

  beforeEach(async () => {
    ({ at, good, close } = await servers[which]());
  });
  afterEach(() => close());

  const ask = async (line: string, more = ''): Promise<number> =>
    codeOfRaw(await exchangeRaw(at, `${line}\r\nHost: x\r\nConnection: close\r\n${more}\r\n`));

  test.each(requests)('refuses %s %s, and continues to serve', async (method, target) => {
    expect([400, 404, 405]).toContain(await ask(`${method} ${target} HTTP/1.1`));
    await alive();
  });

  const alive = async (): Promise<void> => {
    expect(await ask(good)).toBe(which === 'endpoints' ? 200 : 415);
  };

  test.each([
    ['no HTTP', 'SSH-2.0-x\r\n\r\n', 400],
    ['a header without an end', `GET /ok HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(100_000)}`, 431],
    ['two lengths', 'POST /ok HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
    ['no host', 'GET /ok HTTP/1.1\r\n\r\n', 400],
    ['a tunnel', 'CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n', 0],
    [
      'a body without an end',
      'POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999999\r\n\r\na',
      which === 'endpoints' ? 405 : 404,
    ],
    ['requests without waiting', 'GET /ok HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100), which === 'endpoints' ? 0 : 405],
  ])('closes the connection after %s', async (_, bytes, code) => {
    expect(codeOfRaw(await exchangeRaw(at, bytes))).toBe(code);
    await alive();
  });

  test('closes the connection after noise', async () => {
    await exchangeRaw({ port: at.port }, `\0\x16\x03\x01\xff\xff${'noise'.repeat(100)}\r\n\r\n`);
    await alive();
  });

  test('answers while a thousand connections are idle, of which it keeps some', async () => {
    const idle = await Promise.all(Array.from({ length: 1000 }, () => openRaw({ port: at.port })));
    await alive();
    // What the server closes is closed on this side a moment later.
    while (idle.filter(({ closed }) => !closed).length > 512) await settle();
    await close();
    await Promise.all(idle.map((socket) => untilClosed(socket)));
  });
});

test('A failed handshake is closed and only logged at debug level', async () => {
  const lines: string[] = [];
  const { at, close } = await servers.admission({ ...silent, debug: (message) => lines.push(message) });
  await exchangeRaw({ port: at.port }, 'GET /ok HTTP/1.1\r\nHost: x\r\n\r\n');
  await close();
  expect(lines).toContain('a TLS handshake failed');
});
