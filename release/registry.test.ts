import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';

import { artifactOf, emptyConfig } from './oci-content.ts';
import { below, registryAddress } from './registry-address.ts';
import { Registry } from './registry.ts';

describe('the name of a registry', () => {
  test.each([
    ['ghcr.io/example', { host: 'ghcr.io', path: 'example' }],
    ['127.0.0.1:5000/a/b-c', { host: '127.0.0.1:5000', path: 'a/b-c' }],
    ['oci://registry.example.com', { host: 'registry.example.com', path: '' }],
  ])('%s is understood', (text, expected) => {
    expect(registryAddress(text)).toEqual(expected);
  });

  test.each(['ghcr.io/Example', 'https://ghcr.io/x', 'ghcr.io//x', 'ghcr.io/x:v1', ''])('"%s" is refused', (text) => {
    expect(() => registryAddress(text)).toThrow('use HOST[:PORT]/PATH in lower case');
  });

  test('goes on with the repository below it', () => {
    expect(below(registryAddress('r.example'), 'x')).toEqual({ host: 'r.example', path: 'x' });
    expect(below(registryAddress('r.example/a'), 'x/y')).toEqual({ host: 'r.example', path: 'a/x/y' });
  });
});

describe('a registry that wants tokens', () => {
  test('gets one for the password, which it does not see itself', async () => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      const { url = '', headers, method = '' } = request;
      const { port } = server.address() as AddressInfo;
      const authorization = headers.authorization ?? '';
      seen.push(`${method} ${url.split('?')[0] ?? ''} ${authorization.split(' ')[0] ?? ''}`);
      if (url.startsWith('/token')) {
        const scope = new URL(url, 'http://x').searchParams.get('scope');
        const isAllowed = authorization === `Basic ${Buffer.from('me:secret').toString('base64')}`;
        response.writeHead(isAllowed && scope === 'repository:team/x:pull,push' ? 200 : 403);
        response.end('{"token":"t"}');
      } else if (authorization !== 'Bearer t') {
        const challenge = `Bearer realm="http://127.0.0.1:${port}/token",service="r"`;
        response.writeHead(401, { 'www-authenticate': challenge }).end();
      } else if (method === 'HEAD') response.writeHead(404).end();
      else response.writeHead(201, { location: '/v2/team/x/blobs/uploads/1?state=s' }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      const registryOf = (password: string) =>
        new Registry({ host, path: 'team/x' }, { plainHttp: true, credentials: { username: 'me', password } });
      const artifact = artifactOf(emptyConfig, []);
      await expect(registryOf('secret').push(artifact, 'one')).resolves.toBe(artifact.manifest.descriptor.digest);
      expect(seen.filter((line) => line.startsWith('GET /token'))).toEqual(['GET /token Basic']);
      expect(seen.filter((line) => line.includes('/v2/') && line.endsWith('Basic'))).toEqual([]);
      await expect(registryOf('wrong').push(artifact, 'one')).rejects.toThrow(/issued no token .*: it answered 403/);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
