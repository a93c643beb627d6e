import { mkdtemp, readdir, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { HostileServer } from '../../../testing/worlds/stacks/hostile-server.ts';
import { releaseFiles, sha256Of } from '../../../testing/worlds/stacks/stack-release.ts';
import { BadReleaseError, ReleaseNotFoundError, SourceUnavailableError } from '../asset-errors.ts';
import type { GithubSourceOptions } from './github-source.ts';
import { GithubSource } from './github-source.ts';

const never = new AbortController().signal;
const tag = 'docker-scs-1-30-v1';
const files = Object.entries(releaseFiles());
const base = '/repos/team/stacks/releases';

/** A release as GitHub returns it; without digests if it is from before the middle of 2025. */
const release = (hasDigests = true) => ({
  tag_name: tag,
  name: 'The first one',
  draft: false,
  published_at: '2026-01-02T03:04:05Z',
  assets: files.map(([name, bytes], id) => ({
    id,
    name,
    size: bytes.length,
    ...(hasDigests && { digest: sha256Of(bytes) }),
  })),
});

function github(storage?: HostileServer, hasDigests = true) {
  return ({ url = '' }: IncomingMessage, response: ServerResponse): void => {
    const id = /\/assets\/(\d+)$/.exec(url)?.[1];
    if (url === `${base}/tags/${tag}`) response.end(JSON.stringify(release(hasDigests)));
    else if (id === undefined) response.writeHead(404).end('{"message":"Not Found"}');
    else if (storage !== undefined) response.writeHead(302, { location: `${storage.origin}${url}` }).end();
    else response.end(files[Number(id)]?.[1]);
  };
}

const sourceAt = (server: HostileServer, options: Partial<GithubSourceOptions> = {}) =>
  new GithubSource({ repository: 'team/stacks', apiServer: server.origin, ...options });

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'github-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('Releases of a GitHub repository', () => {
  test('are listed by tag and to the last page, not thirty only, without drafts', async () => {
    await using server = await HostileServer.start(({ url = '' }, response, self) => {
      const page = Number(new URL(url, self.origin).searchParams.get('page') ?? 1);
      if (page < 3)
        response.setHeader(
          'link',
          `<${self.origin}${base}?per_page=100&page=${page + 1}>; rel="next", <${self.origin}${base}?page=3>; rel="last"`,
        );
      const numbers = Array.from({ length: 100 }, (_, index) => (page - 1) * 100 + index);
      response.end(
        JSON.stringify(
          numbers.map((n) => ({ ...release(), tag_name: `docker-scs-1-30-v${n}`, draft: n === 5, assets: [] })),
        ),
      );
    });
    const listed = await sourceAt(server).list(never);
    expect(listed).toHaveLength(299);
    expect(listed[0]).toEqual({ tag: 'docker-scs-1-30-v0', createdAt: '2026-01-02T03:04:05Z' });
    expect(listed.at(-1)?.tag).toBe('docker-scs-1-30-v299');
  });

  test('are loaded from where GitHub redirects to, which does not get the token', async () => {
    await using storage = await HostileServer.start(github());
    await using server = await HostileServer.start(github(storage));
    const source = sourceAt(server, { token: 'ghp_secret' });
    const { digest, createdAt } = await source.resolve(tag, never);
    expect(createdAt).toBe('2026-01-02T03:04:05Z');
    expect(storage.seen).toEqual([]);
    await source.load({ tag, digest }, folder, never);
    expect((await readdir(folder)).sort()).toEqual(files.map(([name]) => name).sort());
    expect(server.seen.every(({ authorization }) => authorization === 'Bearer ghp_secret')).toBe(true);
    expect(storage.seen.every(({ authorization }) => authorization === undefined)).toBe(true);
  });

  test('have the same digest whether GitHub reports digests of files or not', async () => {
    await using telling = await HostileServer.start(github());
    await using silent = await HostileServer.start(github(undefined, false));
    const { digest } = await sourceAt(telling).resolve(tag, never);
    await expect(sourceAt(silent).resolve(tag, never)).resolves.toMatchObject({ digest });
  });

  test('with content that does not match GitHub’s digest are refused', async () => {
    await using server = await HostileServer.start((request, response) => {
      const id = /\/assets\/(\d+)$/.exec(request.url ?? '')?.[1];
      if (id === undefined) github()(request, response);
      else response.end(Buffer.alloc(files[Number(id)]?.[1].length ?? 0));
    });
    const source = sourceAt(server);
    const { digest } = await source.resolve(tag, never);
    const failure = source.load({ tag, digest }, folder, never);
    await expect(failure).rejects.toThrow(BadReleaseError);
    await expect(failure).rejects.toThrow(`the files of release ${tag} have changed`);
  });

  test('that do not exist are named in the error', async () => {
    await using server = await HostileServer.start(github());
    await expect(sourceAt(server).resolve('docker-scs-1-30-v9', never)).rejects.toThrow(ReleaseNotFoundError);
    await expect(sourceAt(server).list(never)).rejects.toThrow(
      /returned 404 .*; it may be private: set GIT_ACCESS_TOKEN/,
    );
  });

  test.each(['no JSON', 'null', '{}'])('are not read from the answer %j', async (body) => {
    await using server = await HostileServer.start((_, response) => response.end(body));
    const failure = sourceAt(server).resolve(tag, never);
    await expect(failure).rejects.toThrow(SourceUnavailableError);
    await expect(failure).rejects.toThrow(`/team/stacks did not return a release for ${tag}`);
  });

  test('report an exceeded rate limit with its end and a fix', async () => {
    const reset = Math.floor(Date.now() / 1000) + 600;
    await using server = await HostileServer.start((_, response) =>
      response
        .writeHead(403, { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${reset}` })
        .end(),
    );
    const failure = sourceAt(server).list(never);
    await expect(failure).rejects.toThrow(SourceUnavailableError);
    await expect(failure).rejects.toThrow(
      `the 60 requests per hour are used up until ${new Date(reset * 1000).toISOString()}; a token (GIT_ACCESS_TOKEN`,
    );
    const waits = await failure.catch((error: unknown) => (error as SourceUnavailableError).retryAfterMs);
    expect(waits).toBeGreaterThan(500_000);
  });

  test.each(['team', 'team/stacks/x', '../x', 'team/..', ''])('are not loaded from "%s"', (repository) => {
    expect(() => new GithubSource({ repository })).toThrow('is not a GitHub repository: use OWNER/NAME');
  });
});
