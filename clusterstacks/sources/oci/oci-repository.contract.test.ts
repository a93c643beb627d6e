import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { RunningRegistry } from '../../../release/running-registry.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { manifestType, releaseFiles, releaseManifest, sha256Of } from '../../../testing/worlds/stacks/stack-release.ts';
import type { ManifestOptions } from '../../../testing/worlds/stacks/stack-release.ts';
import { CachedAssetStore } from '../cache/cached-asset-store.ts';
import { OciRepository } from './oci-repository.ts';
import { OciSource } from './oci-source.ts';

const never = new AbortController().signal;
const path = 'kaas/cluster-stacks';
/** The password is release-password. */
const users = 'steward:$2y$05$abcdefghijklmnopqrstuuAU3sH7TZg3uJb3RlYLqp/r2gjxB919O\n';

/** A release put into the registry as its makers put it there. Answers its digest. */
async function push(
  repository: OciRepository,
  tag: string,
  release: ManifestOptions & { readonly files: Record<string, Buffer> },
): Promise<string> {
  for (const bytes of [Buffer.from('{}'), ...Object.values(release.files)]) await repository.pushBlob(bytes, never);
  return repository.pushManifest(
    { mediaType: manifestType, bytes: releaseManifest(release.files, release) },
    tag,
    never,
  );
}

describe('A real registry', () => {
  let folder = '';
  let registry: RunningRegistry;
  let repository: OciRepository;
  const address = () => `${registry.host}/${path}`;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'registry-'));
    registry = await RunningRegistry.start(join(folder, 'content'));
    repository = new OciRepository({ repository: address(), plainHttp: true });
  });
  afterAll(async () => {
    await registry[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const aStore = (name: string) =>
    new CachedAssetStore({
      folder: join(folder, name),
      clock: systemClock,
      open: () => new OciSource({ repository: address(), plainHttp: true }),
    });
  const at = () => ({ type: 'oci', repository: address(), plainHttp: true }) as const;

  test.each([
    ['csctl', 'v0-sha.abc', 'docker-scs-1-30-v0-sha-abc'],
    ['oras', 'v0-ttl.123', 'docker-scs-1-30-v0-ttl.123'],
  ] as const)(
    'stores a release in the layout of %s, which is found and read by either spelling',
    async (as, version, tag) => {
      const digest = await push(repository, tag, {
        as,
        files: releaseFiles({ version }),
        createdAt: '2026-05-06T07:08:09Z',
      });
      for (const name of [`docker-scs-1-30-${version}`, `docker-scs-1-30-${version.replace('.', '-')}`]) {
        const store = aStore(`${as}-${name}`);
        await expect(store.current(at(), name, never)).resolves.toEqual({
          tag,
          digest,
          createdAt: '2026-05-06T07:08:09Z',
        });
        const assets = await store.assets(at(), { name }, never);
        expect(assets).toMatchObject({
          digest,
          tag,
          source: `oci://${address()}`,
          metadata: { clusterStack: version },
        });
        expect(await readdir(assets.addons?.mode === 'stages' ? assets.addons.folder : '/none')).toEqual(['cni']);
      }
    },
  );

  test('returns the pinned digest of a tag that was moved', async () => {
    const tag = 'docker-scs-1-30-v7';
    const first = await push(repository, tag, { files: releaseFiles({ version: 'v7' }) });
    const moved = await push(repository, tag, {
      files: { ...releaseFiles({ version: 'v7' }), 'hashes.json': Buffer.from('{}') },
    });
    expect(moved).not.toBe(first);
    const store = aStore('moved');
    await expect(store.assets(at(), { name: tag, digest: first }, never)).resolves.toMatchObject({ digest: first });
    await expect(store.current(at(), tag, never)).resolves.toMatchObject({ digest: moved });
    await expect(store.assets(at(), { name: tag }, never)).resolves.toMatchObject({ digest: moved });
  });

  test('lists more tags than fit on a page', async () => {
    const many = new OciRepository({ repository: `${registry.host}/many/tags`, plainHttp: true, pageSize: 25 });
    await many.pushBlob(Buffer.from('{}'), never);
    for (const bytes of Object.values(releaseFiles())) await many.pushBlob(bytes, never);
    const tags = Array.from({ length: 60 }, (_, index) => `docker-scs-1-30-v${index}`);
    for (const tag of tags)
      await many.pushManifest({ mediaType: manifestType, bytes: releaseManifest(releaseFiles()) }, tag, never);
    expect([...(await many.tags(never))].sort()).toEqual(tags.sort());
  });

  test('accepts the same blob and the same tag twice', async () => {
    const bytes = Buffer.from('twice');
    await expect(repository.pushBlob(bytes, never)).resolves.toBe(sha256Of(bytes));
    await expect(repository.pushBlob(bytes, never)).resolves.toBe(sha256Of(bytes));
    const files = releaseFiles({ version: 'v8' });
    expect(await push(repository, 'docker-scs-1-30-v8', { files })).toBe(
      await push(repository, 'docker-scs-1-30-v8', { files }),
    );
  });

  test('names a missing repository, tag or blob', async () => {
    await expect(
      new OciRepository({ repository: `${registry.host}/no/such`, plainHttp: true }).tags(never),
    ).rejects.toThrow(/repository .*\/no\/such does not exist or is not public \(NAME_UNKNOWN/);
    await expect(repository.manifest('docker-scs-1-30-v99', never)).rejects.toThrow(
      /has no docker-scs-1-30-v99 \(MANIFEST_UNKNOWN/,
    );
    const alone = releaseManifest({ 'metadata.yaml': Buffer.from('never pushed') });
    await expect(repository.pushManifest({ mediaType: manifestType, bytes: alone }, 'alone', never)).rejects.toThrow(
      /refused the upload|returned 404|returned 400/,
    );
  });

  test('with passwords is written and read only with a password', async () => {
    await using locked = await RunningRegistry.start(join(folder, 'locked'), users);
    const as = (password?: string) =>
      new OciRepository({
        repository: `${locked.host}/${path}`,
        plainHttp: true,
        ...(password !== undefined && { credentials: { username: 'steward', password } }),
      });
    await push(as('release-password'), 'docker-scs-1-30-v1', { files: releaseFiles() });
    await expect(as('release-password').tags(never)).resolves.toEqual(['docker-scs-1-30-v1']);
    await expect(as().tags(never)).rejects.toThrow(/returned 401; it may be private: set credentialsSecretRef/);
    await expect(as('wrong-password').tags(never)).rejects.toThrow(
      /returned 401 .*check that the credentials permit this/,
    );
    await expect(as('wrong-password').tags(never)).rejects.not.toThrow(/wrong-password/);
  });
});
