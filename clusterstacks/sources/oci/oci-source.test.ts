import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { loopbackPair, serverCa } from '../../../testing/servers/server-certificates.ts';
import { HostileServer } from '../../../testing/worlds/stacks/hostile-server.ts';
import { manifestType, releaseFiles, releaseManifest, sha256Of } from '../../../testing/worlds/stacks/stack-release.ts';
import { BadReleaseError, ReleaseNotFoundError, SourceUnavailableError } from '../asset-errors.ts';
import { defaultAssetLimits } from '../asset-limits.ts';
import type { OciRepositoryOptions } from './oci-repository.ts';
import { OciSource } from './oci-source.ts';

const never = new AbortController().signal;
const tag = 'docker-scs-1-30-v1';
const files = releaseFiles();
const manifest = releaseManifest(files);
const digest = sha256Of(manifest);
const blobs = new Map(Object.values(files).map((bytes) => [sha256Of(bytes), bytes]));
const tight = { ...defaultAssetLimits, documentTimeoutMs: 400, silenceMs: 400, releaseTimeoutMs: 800 };

/** Answers as an honest registry would. */
function honest({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const [, kind, reference = ''] = /^\/v2\/team\/stacks\/(manifests|blobs|tags)\/([^?]*)/.exec(url) ?? [];
  const blob = blobs.get(reference);
  if (kind === 'tags') response.end(JSON.stringify({ name: 'team/stacks', tags: [tag] }));
  else if (kind === 'manifests' && (reference === tag || reference === digest)) {
    response.writeHead(200, { 'content-type': manifestType, 'docker-content-digest': digest }).end(manifest);
  } else if (kind === 'blobs' && blob !== undefined) response.end(blob);
  else response.writeHead(404).end('{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}');
}

const sourceAt = (server: HostileServer, options: Partial<OciRepositoryOptions> = {}) =>
  new OciSource({ repository: `${server.host}/team/stacks`, plainHttp: true, ...options });

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oci-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('A correct registry', () => {
  test('returns the files of a release by the titles of its layers, and its creation time', async () => {
    await using server = await HostileServer.start(honest);
    const source = sourceAt(server);
    await expect(source.list(never)).resolves.toEqual([{ tag }]);
    await expect(source.resolve(tag, never)).resolves.toEqual({ digest, createdAt: '2026-02-03T04:05:06Z' });
    await source.load({ tag, digest }, folder, never);
    expect((await readdir(folder)).sort()).toEqual(Object.keys(files).sort());
    await expect(readFile(join(folder, 'metadata.yaml'))).resolves.toEqual(files['metadata.yaml']);
  });

  test('without the release is quoted with its own message', async () => {
    await using server = await HostileServer.start(honest);
    const failure = sourceAt(server).resolve('docker-scs-1-30-v9', never);
    await expect(failure).rejects.toThrow(ReleaseNotFoundError);
    await expect(failure).rejects.toThrow(
      '/team/stacks has no docker-scs-1-30-v9 (MANIFEST_UNKNOWN: manifest unknown)',
    );
  });

  test('is listed page by page, to the last page', async () => {
    const all = Array.from({ length: 95 }, (_, index) => `docker-scs-1-30-v${index}`);
    await using server = await HostileServer.start(({ url = '' }, response) => {
      const last = Number(new URL(url, 'http://x').searchParams.get('last') ?? 0);
      const more = last + 10 < all.length;
      response.setHeader('link', more ? `</v2/team/stacks/tags/list?n=10&last=${last + 10}>; rel="next"` : '');
      response.end(JSON.stringify({ tags: all.slice(last, last + 10) }));
    });
    expect((await sourceAt(server).list(never)).map((release) => release.tag)).toEqual(all);
  });

  test('with a certificate of its own CA is trusted only with that CA', async () => {
    const ca = await serverCa('authority');
    const { certificatePem: cert, keyPem: key } = pems(await loopbackPair(ca, 'registry'));
    await using server = await HostileServer.start(honest, { key, cert });
    const certificateAuthority = pems(ca).certificatePem;
    await expect(
      sourceAt(server, { plainHttp: false, certificateAuthority }).resolve(tag, never),
    ).resolves.toMatchObject({ digest });
    await expect(sourceAt(server, { plainHttp: false }).resolve(tag, never)).rejects.toThrow(
      /cannot be reached at https:.*if the server has a CA of its own, set caSecretRef of the source/,
    );
  });

  test('without TLS is used only if that is configured', async () => {
    await using server = await HostileServer.start(honest);
    await expect(sourceAt(server, { plainHttp: false }).resolve(tag, never)).rejects.toThrow('plainHTTP of the source');
    expect(server.seen).toEqual([]);
  });
});

describe('A registry with authentication', () => {
  const challenged = (challenge: (self: HostileServer) => string, expected: string) =>
    HostileServer.start((request, response, self) => {
      if (request.url?.startsWith('/token')) {
        const isKnown = request.headers.authorization === `Basic ${Buffer.from('me:secret').toString('base64')}`;
        response.writeHead(isKnown || request.headers.authorization === undefined ? 200 : 403);
        response.end(JSON.stringify(isKnown ? { token: 'mine' } : { access_token: 'anybody' }));
      } else if (request.headers.authorization === expected) honest(request, response);
      else response.writeHead(401, { 'www-authenticate': challenge(self) }).end('{"errors":[{"code":"UNAUTHORIZED"}]}');
    });
  const bearer = (self: HostileServer) => `Bearer realm="${self.origin}/token",service="r"`;
  const credentials = { username: 'me', password: 'secret' };

  test('by Basic gets user name and password after its challenge', async () => {
    await using server = await challenged(
      () => 'Basic realm="r"',
      `Basic ${Buffer.from('me:secret').toString('base64')}`,
    );
    await expect(sourceAt(server, { credentials }).resolve(tag, never)).resolves.toMatchObject({ digest });
    expect(server.seen.map(({ authorization }) => authorization?.split(' ')[0])).toEqual([undefined, 'Basic']);
  });

  test('by token gets a token, not the password, and gets it again without another challenge', async () => {
    await using server = await challenged(bearer, 'Bearer mine');
    await sourceAt(server, { credentials }).load({ tag, digest }, folder, never);
    const asked = server.seen.filter(({ url }) => url.startsWith('/token'));
    expect(asked.map(({ url }) => url)).toEqual(['/token?service=r&scope=repository%3Ateam%2Fstacks%3Apull']);
    expect(
      server.seen.filter(({ url, authorization }) => url.startsWith('/v2') && authorization?.startsWith('Basic')),
    ).toEqual([]);
  });

  test('by token gets an anonymous token if everyone may read', async () => {
    await using server = await challenged(bearer, 'Bearer anybody');
    await expect(sourceAt(server).resolve(tag, never)).resolves.toMatchObject({ digest });
  });

  test('by token gets an access token in base64, as the Go operator sends OCI_ACCESS_TOKEN', async () => {
    await using server = await challenged(bearer, `Bearer ${Buffer.from('ghp_x').toString('base64')}`);
    await expect(sourceAt(server, { credentials: { token: 'ghp_x' } }).resolve(tag, never)).resolves.toMatchObject({
      digest,
    });
    expect(server.seen.some(({ url }) => url.startsWith('/token'))).toBe(false);
  });

  test('is quoted with the fix and without the password when it refuses', async () => {
    await using server = await challenged(() => 'Basic realm="r"', 'nobody');
    const failure = sourceAt(server, { credentials }).resolve(tag, never);
    await expect(failure).rejects.toThrow(SourceUnavailableError);
    await expect(failure).rejects.toThrow(/returned 401 \(UNAUTHORIZED\); check that the credentials permit this/);
    await expect(sourceAt(server).resolve(tag, never)).rejects.toThrow(
      /returned 401; it may be private: set credentialsSecretRef/,
    );
  });

  test('by a realm that is not a URL gets no credentials', async () => {
    await using server = await challenged(() => 'Bearer realm="nowhere"', 'nobody');
    const failure = sourceAt(server, { credentials }).resolve(tag, never);
    await expect(failure).rejects.toThrow(SourceUnavailableError);
    await expect(failure).rejects.toThrow('/team/stacks points to an invalid URL for tokens');
  });

  test('by a realm without TLS gets no password', async () => {
    const ca = await serverCa('authority');
    const { certificatePem: cert, keyPem: key } = pems(await loopbackPair(ca, 'registry'));
    await using realm = await HostileServer.start((_, response) => response.end('{"token":"t"}'));
    await using server = await HostileServer.start(
      (_, response) => response.writeHead(401, { 'www-authenticate': bearer(realm) }).end(),
      { key, cert },
    );
    const source = sourceAt(server, { plainHttp: false, certificateAuthority: pems(ca).certificatePem, credentials });
    await expect(source.resolve(tag, never)).rejects.toThrow('is not an https address: no password is sent there');
    expect(realm.seen).toEqual([]);
  });
});

describe('A registry that redirects', () => {
  test('to another host does not pass on the credentials', async () => {
    await using storage = await HostileServer.start(honest);
    await using server = await HostileServer.start((request, response) => {
      if (request.headers.authorization === undefined) response.writeHead(401, { 'www-authenticate': 'Basic' }).end();
      else if (request.url?.includes('/blobs/'))
        response.writeHead(307, { location: `${storage.origin}${request.url}` }).end();
      else honest(request, response);
    });
    await sourceAt(server, { credentials: { username: 'me', password: 'secret' } }).load(
      { tag, digest },
      folder,
      never,
    );
    expect(storage.seen).toHaveLength(Object.keys(files).length);
    expect(storage.seen.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
  });

  test('endlessly is not followed', async () => {
    await using server = await HostileServer.start(({ url = '' }, response) =>
      response.writeHead(302, { location: `${url}x` }).end(),
    );
    await expect(sourceAt(server).resolve(tag, never)).rejects.toThrow(/redirects .* more than 5 times/);
    expect(server.seen).toHaveLength(6);
  });

  test('to an address inside the cluster is not quoted', async () => {
    await using inside = await HostileServer.start((_, response) =>
      response.writeHead(500).end('{"errors":[{"code":"X","message":"the secret"}]}'),
    );
    await using server = await HostileServer.start((_, response) =>
      response.writeHead(302, { location: inside.origin }).end(),
    );
    const failure = sourceAt(server).resolve(tag, never);
    await expect(failure).rejects.toThrow(/returned 500/);
    await expect(failure).rejects.not.toThrow(/the secret/);
  });
});

describe('A malicious registry', () => {
  const lying = (answer: (url: string, response: ServerResponse) => boolean) =>
    HostileServer.start((request, response) => {
      if (!answer(request.url ?? '', response)) honest(request, response);
    });

  test('with a wrong digest of a manifest is refused', async () => {
    const other = releaseManifest(releaseFiles({ version: 'v2' }));
    await using server = await lying((url, response) => {
      if (!url.includes('/manifests/')) return false;
      response.writeHead(200, { 'docker-content-digest': digest }).end(other);
      return true;
    });
    const message = new RegExp(`returned a manifest with digest ${sha256Of(other)} for .*, not ${digest}`);
    await expect(sourceAt(server).resolve(tag, never)).rejects.toThrow(message);
    const load = sourceAt(server).load({ tag, digest }, folder, never);
    await expect(load).rejects.toThrow(BadReleaseError);
    await expect(load).rejects.toThrow(message);
  });

  test.each([
    ['of the same length', (bytes: Buffer) => Buffer.alloc(bytes.length, 1), 'cannot be trusted'],
    ['that is shorter', (bytes: Buffer) => bytes.subarray(1), 'cannot be trusted'],
    ['that is longer', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('x')]), 'returned more than the expected'],
  ])('with a blob %s is refused', async (_, forge, message) => {
    await using server = await lying((url, response) => {
      const blob = blobs.get(/\/blobs\/(.*)$/.exec(url)?.[1] ?? '');
      if (blob !== undefined) response.end(forge(blob));
      return blob !== undefined;
    });
    const load = sourceAt(server).load({ tag, digest }, folder, never);
    await expect(load).rejects.toThrow(BadReleaseError);
    await expect(load).rejects.toThrow(message);
  });

  test.each([
    ['tags', (source: OciSource) => source.list(never)],
    ['manifests', (source: OciSource) => source.resolve(tag, never)],
    ['blobs', (source: OciSource) => source.load({ tag, digest }, folder, never)],
  ])('with %s that never end is aborted at the limit', async (kind, call) => {
    let sent = 0;
    await using server = await lying((url, response) => {
      if (!url.includes(`/${kind}/`)) return false;
      const chunk = Buffer.alloc(64 * 1024, 32);
      const pour = (): void => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
      };
      response.on('drain', pour);
      pour();
      return true;
    });
    const limits = { ...defaultAssetLimits, maxDocumentBytes: 256 * 1024 };
    await expect(call(sourceAt(server, { limits }))).rejects.toThrow(/more than (?:the expected )?\d+ bytes/);
    expect(sent).toBeLessThan(16 * 1024 * 1024);
  });

  test.each([
    ['nothing', () => undefined],
    ['headers and nothing else', (response: ServerResponse) => void response.writeHead(200).write('x')],
    [
      'a byte now and then',
      (response: ServerResponse) => {
        response.writeHead(200);
        const timer = setInterval(() => response.write(' '), 50);
        response.on('close', () => {
          clearInterval(timer);
        });
      },
    ],
  ])('that sends %s is aborted in time', async (_, drip) => {
    await using server = await lying((_url, response) => {
      drip(response);
      return true;
    });
    const began = performance.now();
    const source = sourceAt(server, { limits: tight });
    await expect(source.resolve(tag, never)).rejects.toThrow(SourceUnavailableError);
    await expect(source.list(never)).rejects.toThrow(SourceUnavailableError);
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  test('with pages in a circle, or on another host, is not followed', async () => {
    await using elsewhere = await HostileServer.start(honest);
    await using server = await HostileServer.start(({ url = '' }, response) => {
      const page = Number(new URL(url, 'http://x').searchParams.get('page') ?? 0);
      response.setHeader(
        'link',
        page < 3 ? `<?page=${page + 1}>; rel="next"` : `<${elsewhere.origin}/>; rel=next, <?page=1>; rel="next"`,
      );
      response.end(JSON.stringify({ tags: [`v${page}`] }));
    });
    await expect(sourceAt(server).list(never)).resolves.toHaveLength(4);
    expect(server.seen).toHaveLength(4);
    expect(elsewhere.seen).toEqual([]);
  });

  test('with an empty page in the middle is read to the end', async () => {
    await using server = await HostileServer.start(({ url = '' }, response) => {
      const page = Number(new URL(url, 'http://x').searchParams.get('page') ?? 0);
      if (page < 3) response.setHeader('link', `<?page=${page + 1}>; rel="next"`);
      response.end(JSON.stringify({ tags: page === 1 ? null : [`v${page}`] }));
    });
    await expect(sourceAt(server).list(never)).resolves.toEqual(['v0', 'v2', 'v3'].map((one) => ({ tag: one })));
  });

  test('with endless pages is aborted', async () => {
    await using server = await HostileServer.start(({ url = '' }, response) => {
      const page = Number(new URL(url, 'http://x').searchParams.get('page') ?? 0);
      response.setHeader('link', `<?page=${page + 1}>; rel="next"`);
      response.end(JSON.stringify({ tags: [`v${page}`] }));
    });
    const failure = sourceAt(server, { limits: { ...defaultAssetLimits, maxPages: 10 } }).list(never);
    await expect(failure).rejects.toThrow(/more than \d+ tags or 10 pages/);
    expect(server.seen).toHaveLength(10);
  });
});

describe('A registry', () => {
  test('that is unreachable is named with the failure', async () => {
    const server = await HostileServer.start(honest);
    const source = sourceAt(server);
    await server[Symbol.asyncDispose]();
    await expect(source.resolve(tag, never)).rejects.toThrow(/team\/stacks cannot be reached at http:.*ECONNREFUSED/);
  });

  test('that is overloaded says when to retry', async () => {
    await using server = await HostileServer.start((_, response) =>
      response.writeHead(429, { 'retry-after': '7' }).end(),
    );
    await expect(sourceAt(server).resolve(tag, never)).rejects.toMatchObject({
      name: 'SourceUnavailableError',
      retryAfterMs: 7000,
    });
  });

  test('request that is aborted fails with the reason of the abort', async () => {
    const caller = new AbortController();
    await using server = await HostileServer.start(() => {
      caller.abort(new Error('the manager stops'));
    });
    await expect(sourceAt(server, { limits: defaultAssetLimits }).resolve(tag, caller.signal)).rejects.toThrow(
      'the manager stops',
    );
  });
});

const pems = (pair: Awaited<ReturnType<typeof serverCa>>) => ({
  certificatePem: pair.certificate,
  keyPem: pair.key,
});
