import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { request } from 'node:https';
import type { KindRef, Manifest, Resource } from '../api/meta.ts';
import { silent } from '../runtime/observe/logger.ts';
import { Metrics } from '../runtime/observe/metrics.ts';
import { FakeClock } from '../testing/fake/fake-clock.ts';
import { codeOfRaw, exchangeRaw } from '../testing/servers/raw-exchange.ts';
import { Closing } from './closing.ts';
import { serveMetrics } from './serve-metrics.ts';

let closing: Closing;
beforeEach(() => {
  closing = new Closing();
});
afterEach(() => closing.close());

/** Knows one token, whose account may read metrics. */
const create = <T extends Resource>(_: KindRef<T>, manifest: Manifest): Promise<T> => {
  const { token } = manifest.spec as { readonly token?: string };
  const status = { authenticated: token === 'good', user: { username: 'prometheus' }, allowed: true };
  return Promise.resolve({ ...manifest, status } as Resource as T);
};

async function serve(insecureMetrics: boolean): Promise<number> {
  const port = await serveMetrics({
    settings: {
      metrics: { host: '127.0.0.1', port: 0 },
      insecureMetrics,
      profiling: !insecureMetrics,
      podName: 'steward-0',
    },
    ...{ cluster: { create }, clock: new FakeClock(new Date()), closing, log: silent },
    metrics: new Metrics({ process: false }),
  });
  if (port === undefined) throw new Error('nothing is served');
  return port;
}

const scrape = (port: number, headers: Record<string, string>, path = '/metrics'): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, headers, rejectUnauthorized: false, agent: false };
    request(options, (response) => {
      response.resume().once('end', () => {
        resolve(response.statusCode);
      });
    })
      .on('error', reject)
      .end();
  });

const plain = (port: number): Promise<string> =>
  exchangeRaw({ port }, 'GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');

describe('Metrics', () => {
  test('are served over TLS to clients that are authorized to read them, and to no other', async () => {
    const port = await serve(false);
    expect(await scrape(port, { authorization: 'Bearer good' })).toBe(200);
    expect(await scrape(port, { authorization: 'Bearer bad' })).toBe(401);
    expect(await scrape(port, {})).toBe(401);
    expect(codeOfRaw(await plain(port))).not.toBe(200);
  });

  test('come with profiles for clients that may get these, if they are switched on', async () => {
    const port = await serve(false);
    const path = '/debug/profiles/cpu?seconds=soon';
    expect(await scrape(port, { authorization: 'Bearer good' }, path)).toBe(400);
    expect(await scrape(port, { authorization: 'Bearer bad' }, path)).toBe(401);
    const open = await serve(true);
    expect(await exchangeRaw({ port: open }, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)).toContain(
      'HTTP/1.1 404',
    );
  });

  test('are served without TLS and authorization if the flags say so', async () => {
    expect(codeOfRaw(await plain(await serve(true)))).toBe(200);
  });

  test('are not served if they are switched off', async () => {
    const settings = { metrics: undefined, insecureMetrics: false, profiling: false, podName: 'steward-0' };
    const parts = { cluster: { create }, clock: new FakeClock(), closing, log: silent };
    expect(await serveMetrics({ settings, ...parts, metrics: new Metrics({ process: false }) })).toBeUndefined();
  });
});
