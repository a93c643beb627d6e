import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { systemClock } from '../../runtime/clock.ts';
import { HostileServer } from '../../testing/worlds/stacks/hostile-server.ts';
import { manifestType, releaseFiles, releaseManifest, sha256Of } from '../../testing/worlds/stacks/stack-release.ts';
import { assetStore } from './asset-store.ts';

const never = new AbortController().signal;
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'store-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

test('The asset store of the manager reads a complete release from a folder', async () => {
  const name = 'docker-scs-1-30-v1';
  await mkdir(join(folder, 'releases', name), { recursive: true });
  for (const [file, bytes] of Object.entries(releaseFiles()))
    await writeFile(join(folder, 'releases', name, file), bytes);
  const store = assetStore(join(folder, 'cache'), systemClock);
  const assets = await store.assets({ type: 'directory', path: join(folder, 'releases') }, { name }, never);
  expect(assets).toMatchObject({ tag: name, metadata: { clusterStack: 'v1' }, addons: { mode: 'stages' } });
});

test.each([
  [
    'an OCI repository',
    (server: HostileServer) => ({ type: 'oci', repository: `${server.host}/a/b`, plainHttp: true }) as const,
    '/v2/a/b/tags/list?n=1000',
  ],
  [
    'a GitHub repository',
    (server: HostileServer) => ({ type: 'github', repository: 'a/b', apiServer: server.origin }) as const,
    '/repos/a/b/releases?per_page=100',
  ],
])('The asset store of the manager requests %s', async (_, at, url) => {
  await using server = await HostileServer.start((_request, response) => response.writeHead(503).end());
  await expect(assetStore(folder, systemClock).list(at(server), never)).rejects.toThrow('returned 503');
  expect(server.seen.map((request) => request.url)).toEqual([url]);
});

test('The asset store of the manager reads a private registry again for requests with other credentials', async () => {
  const tag = 'docker-scs-1-30-v1';
  const files = releaseFiles();
  const manifest = releaseManifest(files);
  const blobs = new Map(Object.values(files).map((bytes) => [sha256Of(bytes), bytes]));
  const allowed = `Basic ${Buffer.from('team-a:secret').toString('base64')}`;
  await using server = await HostileServer.start(({ url = '', headers }, response) => {
    const blob = blobs.get(url.split('/blobs/')[1] ?? '');
    if (headers.authorization !== allowed) response.writeHead(401, { 'www-authenticate': 'Basic' }).end();
    else if (blob === undefined) response.writeHead(200, { 'content-type': manifestType }).end(manifest);
    else response.end(blob);
  });
  const repository = { type: 'oci', repository: `${server.host}/team-a/stacks`, plainHttp: true } as const;
  const store = assetStore(folder, systemClock);
  const ours = { ...repository, credentials: { username: 'team-a', password: 'secret' } };
  const { digest } = await store.assets(ours, { name: tag }, never);
  const others = { ...repository, credentials: { username: 'team-b', password: 'guess' } };
  for (const address of [repository, others]) {
    await expect(store.assets(address, { name: tag, digest }, never)).rejects.toThrow('returned 401');
  }
  const asked = server.seen.length;
  await expect(store.assets(ours, { name: tag, digest }, never)).resolves.toMatchObject({ digest });
  expect(server.seen).toHaveLength(asked);
});
