import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { loopbackPair, serverCa } from '../../../testing/servers/server-certificates.ts';
import { defaultAssetLimits } from '../asset-limits.ts';
import { SourceHttp } from './source-http.ts';

test('a source that offers HTTP/2 is read over HTTP/1.1, whose limits bound each answer', async () => {
  const ca = await serverCa('authority');
  const pair = await loopbackPair(ca, 'source');
  const seen: string[] = [];
  const server = createSecureServer(
    { key: pair.key, cert: pair.certificate, allowHTTP1: true },
    (request, response) => {
      seen.push(request.httpVersion);
      response.end('x');
    },
  );
  const listening = Promise.withResolvers<undefined>();
  server.listen(0, '127.0.0.1', () => {
    listening.resolve(undefined);
  });
  await listening.promise;
  const url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const { signal } = new AbortController();
  const http = new SourceHttp({
    name: 'source',
    home: url,
    limits: defaultAssetLimits,
    certificateAuthority: ca.certificate,
  });
  try {
    const answer = await http.send({ url }, signal);
    expect(await http.text(answer, signal)).toBe('x');
    expect(seen).toEqual(['1.1']);
  } finally {
    server.close();
  }
});
