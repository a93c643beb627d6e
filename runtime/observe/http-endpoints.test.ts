import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { get } from 'node:http';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { openRaw, untilClosed } from '../../testing/servers/raw-exchange.ts';
import type { HealthCheck } from './health-check.ts';
import { contactCheck, healthPages, HttpEndpoints, metricsPages, type Pages } from './http-endpoints.ts';
import { silent } from './logger.ts';

let endpoints: HttpEndpoints | undefined;
afterEach(() => endpoints?.close());

const serve = async (pages: Pages): Promise<(path: string) => Promise<{ code: number; body: string }>> => {
  endpoints = new HttpEndpoints(pages, silent);
  const port = await endpoints.listen('127.0.0.1:0');
  return (path) =>
    new Promise((resolve, reject) => {
      get({ host: '127.0.0.1', port, path, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          resolve({ code: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() });
        });
      }).on('error', reject);
    });
};
const well = (name: string): HealthCheck => ({ name, check: () => undefined });

describe('Health', () => {
  test('is ok while all checks pass, and lists the checks on request', async () => {
    const ask = await serve(healthPages({ alive: [], ready: [well('informer-sync'), well('leader')] }));
    expect(await ask('/readyz')).toEqual({ code: 200, body: 'ok' });
    expect((await ask('/readyz?verbose')).body).toBe('[+]informer-sync ok\n[+]leader ok\nreadyz check passed\n');
    expect(await ask('/healthz')).toEqual({ code: 200, body: 'ok' });
  });

  test('fails with the reasons of each check', async () => {
    let why: string | undefined = 'secrets: not complete yet';
    const ask = await serve(
      healthPages({ alive: [], ready: [well('leader'), { name: 'informer-sync', check: () => why }] }),
    );
    const body = '[+]leader ok\n[-]informer-sync failed: secrets: not complete yet\nreadyz check failed\n';
    expect(await ask('/readyz')).toEqual({ code: 500, body });
    expect((await ask('/readyz/informer-sync')).code).toBe(500);
    expect((await ask('/readyz/leader')).code).toBe(200);
    expect((await ask('/readyz/other')).code).toBe(404);
    expect((await ask('/healthz')).code).toBe(200);
    why = undefined;
    expect((await ask('/readyz')).code).toBe(200);
  });

  test('reports an optional part that waits, which fails on its own path only', async () => {
    const layer: HealthCheck = { name: 'layer', optional: true, check: () => 'its definitions are missing' };
    const ask = await serve(healthPages({ alive: [], ready: [well('leader'), layer] }));
    expect(await ask('/readyz')).toEqual({ code: 200, body: 'ok' });
    const body = '[+]leader ok\n[!]layer waits: its definitions are missing\nreadyz check passed\n';
    expect(await ask('/readyz?verbose')).toEqual({ code: 200, body });
    expect((await ask('/readyz/layer')).code).toBe(500);
  });

  test('of the connection to an API server depends on the time of the last byte', async () => {
    const clock = new FakeClock();
    const heard: number[] = [];
    const contact = contactCheck({ name: 'management', lastContact: () => heard.at(-1) }, clock);
    expect([contact.name, contact.check()]).toEqual(['management-contact', 'the API server has not answered yet']);
    heard.push(clock.monotonic());
    expect(contact.check()).toBeUndefined();
    await clock.advance(121_000);
    expect(contact.check()).toBe('no contact with the API server for 121 s');
  });
});

test('metrics are served, and a collector that fails is reported', async () => {
  let fails = false;
  const ask = await serve(
    metricsPages({
      contentType: 'text/plain; version=0.0.4',
      metrics: () => (fails ? Promise.reject(new Error('no memory figures')) : Promise.resolve('up 1\n')),
    }),
  );
  expect(await ask('/metrics')).toEqual({ code: 200, body: 'up 1\n' });
  fails = true;
  expect(await ask('/metrics')).toEqual({ code: 500, body: 'no memory figures\n' });
  expect((await ask('/constructor')).code).toBe(404);
});

test('bind addresses have the form of other managers’ flags', async () => {
  await expect(new HttpEndpoints({}, silent).listen('8081')).rejects.toThrow('is not of the form host:port');
  const every = new HttpEndpoints({}, silent);
  const port = await every.listen(':0');
  await expect(new HttpEndpoints({}, silent).listen(`:${port}`)).rejects.toThrow('EADDRINUSE');
  await every.close();
});

test('a server that closes ends connections during a request, without waiting for the rest', async () => {
  const server = new HttpEndpoints({ '/ok': () => ({ code: 200, type: 'text/plain', body: 'ok' }) }, silent);
  const socket = await openRaw({ port: await server.listen('127.0.0.1:0') });
  const said = untilClosed(socket);
  socket.write('GET /ok HTTP/1.1\r\nHost: x\r\n\r\nGET /ok');
  await once(socket, 'data');
  await server.close();
  expect((await said).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
});
