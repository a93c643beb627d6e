import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, get } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { clientPair, loopbackPair, serverCa } from '../../testing/servers/server-certificates.ts';
import { FaultyApi } from './faulty-api.ts';

let server: Server;
let api: FaultyApi;
/** Watches that the server answers. */
let answered: ServerResponse[];

beforeEach(async () => {
  answered = [];
  const ca = await serverCa('kubernetes');
  const [own, client] = await Promise.all([loopbackPair(ca, 'kube-apiserver'), clientPair(ca, 'manager')]);
  server = createServer(
    { cert: own.certificate, key: own.key, ca: ca.certificate, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const user = String((request.socket as TLSSocket).getPeerCertificate().subject.CN);
      if (request.url?.includes('watch=true') === true) {
        response.write('{"type":"ADDED"}\n');
        answered.push(response);
      } else
        response.end(`${user} ${request.headers.authorization ?? ''} ${request.method ?? ''} ${request.url ?? ''}`);
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  api = await FaultyApi.start({ url: `https://127.0.0.1:${port}`, ca: ca.certificate, client });
});

afterEach(async () => {
  await api[Symbol.asyncDispose]();
  server.closeAllConnections();
  server.close();
});

async function ask(path: string, token = api.token): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${token}` };
  const asked = get(`https://127.0.0.1:${api.port}${path}`, { ca: api.ca, agent: new Agent(), headers });
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return answer;
}

describe('The management API with faults', () => {
  test('passes requests on with the rights of the manager while nothing fails', async () => {
    expect(await text(await ask('/api/v1/pods?limit=5'))).toBe('manager  GET /api/v1/pods?limit=5');
  });

  test('answers nobody without its token', async () => {
    expect((await ask('/api/v1/pods', 'other')).statusCode).toBe(401);
  });

  test('answers everything with 429 while it is throttled, and is as before afterwards', async () => {
    api.begin('throttled');
    const answer = await ask('/api/v1/pods');
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([429, '1']);
    api.end('throttled');
    expect((await ask('/api/v1/pods')).statusCode).toBe(200);
  });

  test('ends watches with 410, and refuses those that go on at a version, but not those that begin with the objects', async () => {
    const watch = await ask('/api/v1/pods?watch=true&resourceVersion=7');
    api.begin('expired');
    expect(await text(watch)).toMatch(/^\{"type":"ADDED"\}\n\{"type":"ERROR".*"code":410/);
    expect((await ask('/api/v1/pods?watch=true&resourceVersion=7')).statusCode).toBe(410);
    const first = await ask('/api/v1/pods?watch=true&sendInitialEvents=true&resourceVersion=');
    expect(first.statusCode).toBe(200);
    first.destroy();
    api.end('expired');
    const again = await ask('/api/v1/pods?watch=true&resourceVersion=7');
    expect(again.statusCode).toBe(200);
    again.destroy();
  });

  test('ends a watch once, also when its client reads late, and sends nothing after the end', async () => {
    const watch = await ask('/api/v1/pods?watch=true&resourceVersion=7');
    api.begin('expired');
    api.begin('expired');
    for (const response of answered) response.write('{"type":"LATE"}\n');
    const other = await ask('/api/v1/pods');
    await text(other);
    expect(await text(watch)).toMatch(/^\{"type":"ADDED"\}\n\{"type":"ERROR"[^\n]*\n$/);
  });

  test('breaks the connection when the API server does not answer', async () => {
    server.closeAllConnections();
    server.close();
    await expect(ask('/api/v1/pods')).rejects.toThrow(/socket hang up/);
  });
});
