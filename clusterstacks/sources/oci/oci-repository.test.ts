import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';

import { artifactOf, emptyConfig, indexOf } from './artifact.ts';
import { OciRepository } from './oci-repository.ts';

const never = new AbortController().signal;

test('A registry that wants tokens gets one for the password, which it does not see itself, and the tag last', async () => {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const { url = '', headers, method = '' } = request;
    const { port } = server.address() as AddressInfo;
    const authorization = headers.authorization ?? '';
    seen.push(`${method} ${url.split('?')[0] ?? ''} ${authorization.split(' ')[0] ?? ''}`);
    request.resume();
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
    const { port } = server.address() as AddressInfo;
    const repositoryWith = (password: string) =>
      new OciRepository({
        repository: `127.0.0.1:${port}/team/x`,
        plainHttp: true,
        credentials: { username: 'me', password },
      });
    const image = artifactOf(emptyConfig, []);
    const index = indexOf([{ image, platform: { os: 'linux', architecture: 'arm64' } }]);
    await expect(repositoryWith('secret').push(index, 'one', never)).resolves.toBe(index.manifest.descriptor.digest);
    expect(seen.filter((line) => line.startsWith('GET /token'))).toEqual(['GET /token Basic']);
    expect(seen.filter((line) => line.includes('/v2/') && line.endsWith('Basic'))).toEqual([]);
    expect(seen.filter((line) => line.startsWith('PUT'))).toEqual([
      'PUT /v2/team/x/blobs/uploads/1 Bearer',
      `PUT /v2/team/x/manifests/${image.manifest.descriptor.digest} Bearer`,
      'PUT /v2/team/x/manifests/one Bearer',
    ]);
    await expect(repositoryWith('wrong').push(index, 'one', never)).rejects.toThrow(
      /issued no token .*: it returned 403; check the credentials/,
    );
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
