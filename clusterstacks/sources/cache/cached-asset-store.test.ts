import { access, mkdir, mkdtemp, readdir, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { systemClock } from '../../../runtime/clock.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { MemorySource } from '../../../testing/worlds/stacks/memory-source.ts';
import { archiveOf, releaseFiles } from '../../../testing/worlds/stacks/stack-release.ts';
import { BadReleaseError, ReleaseNotFoundError } from '../asset-errors.ts';
import type { SourceAddress } from '../asset-store.ts';
import { CachedAssetStore } from './cached-asset-store.ts';

const never = new AbortController().signal;
const name = 'docker-scs-1-30-v1';
const at: SourceAddress = { type: 'directory', path: '/unused' };
let folder = '';
let source = new MemorySource();
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cache-'));
  source = new MemorySource({ [name]: releaseFiles() });
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});
const aStore = (clock: Clock = systemClock) => new CachedAssetStore({ folder, open: () => source, clock });
const without = (...names: readonly string[]) =>
  Object.fromEntries(Object.entries(releaseFiles()).filter(([file]) => !names.includes(file)));
const entries = async () => (await readdir(folder)).sort();

describe('The store of releases', () => {
  test('returns the parts of a release with stages, unpacked', async () => {
    const assets = await aStore().assets(at, { name }, never);
    expect(assets).toMatchObject({
      digest: source.digestOf(name),
      source: 'memory://stacks',
      tag: name,
      metadata: { kubernetes: 'v1.30.10' },
    });
    await expect(access(assets.clusterClassChart)).resolves.toBeUndefined();
    const addons = assets.addons;
    if (addons?.mode !== 'stages') throw new Error('stages expected');
    await expect(readFile(join(addons.folder, 'cni/Chart.yaml'), 'utf8')).resolves.toContain('name: cni');
    expect(addons.config.stages.AfterControlPlaneInitialized).toEqual([{ name: 'cni', action: 'apply' }]);
  });

  test('returns the single chart and the values of a release without stages', async () => {
    const files = without('clusteraddon.yaml');
    source.releases.set(name, { ...files, 'cluster-addon-values.yaml': Buffer.from('values: |\n') });
    const { addons } = await aStore().assets(at, { name }, never);
    if (addons?.mode !== 'single-chart') throw new Error('one chart expected');
    expect(addons.chart).toMatch(/files\/docker-scs-1-30-cluster-addon-v1\.tgz$/);
    await expect(readFile(addons.valuesTemplate ?? '', 'utf8')).resolves.toBe('values: |\n');
  });

  test('returns a release without add-ons', async () => {
    const files = without('clusteraddon.yaml', 'docker-scs-1-30-cluster-addon-v1.tgz');
    source.releases.set(name, files);
    await expect(aStore().assets(at, { name }, never)).resolves.not.toHaveProperty('addons');
  });

  test('returns add-ons of an older version than the stack', async () => {
    source.releases.set('docker-scs-1-30-v3', releaseFiles({ version: 'v3', addon: 'v2' }));
    await expect(aStore().assets(at, { name: 'docker-scs-1-30-v3' }, never)).resolves.toMatchObject({
      metadata: { clusterStack: 'v3', clusterAddon: 'v2' },
    });
  });

  test.each(['docker-scs-1-30-v0-sha-abc', 'docker-scs-1-30-v0-sha.abc'])(
    'finds the tag %s by both spellings of the name',
    async (tag) => {
      source.releases.set(tag, releaseFiles({ version: 'v0-sha.abc' }));
      for (const spelled of ['docker-scs-1-30-v0-sha-abc', 'docker-scs-1-30-v0-sha.abc']) {
        const store = aStore();
        await expect(store.current(at, spelled, never)).resolves.toEqual({ tag, digest: source.digestOf(tag) });
        await expect(store.assets(at, { name: spelled }, never)).resolves.toMatchObject({ tag });
        await rm(folder, { recursive: true });
        await expect(store.assets(at, { name: spelled, digest: source.digestOf(tag) }, never)).resolves.toMatchObject({
          tag,
        });
      }
    },
  );

  test('reports a release that exists under no spelling', async () => {
    const failure = aStore().assets(at, { name: 'docker-scs-1-30-v0-sha-x' }, never);
    await expect(failure).rejects.toThrow(ReleaseNotFoundError);
    await expect(failure).rejects.toThrow(
      'memory://stacks has no release docker-scs-1-30-v0-sha-x or docker-scs-1-30-v0-sha.x',
    );
  });

  test('reads a cached release with a pinned digest without a request to the source', async () => {
    const digest = source.digestOf(name);
    const first = await aStore().assets(at, { name }, never);
    source.releases.clear();
    source.resolves = 0;
    await expect(aStore().assets(at, { name, digest }, never)).resolves.toEqual(first);
    expect(source).toMatchObject({ loads: 1, resolves: 0 });
  });

  describe('A release that was fetched with credentials', () => {
    const credentials = { username: 'team-a', password: 'secret' };
    const repository = { type: 'oci', repository: 'registry.example/team-a/stacks' } as const;
    const withCredentials: SourceAddress = { ...repository, credentials };
    const open = (address: SourceAddress): MemorySource => {
      const isKnown = JSON.stringify(address) === JSON.stringify(withCredentials);
      return isKnown ? source : new MemorySource();
    };
    const guarded = () => new CachedAssetStore({ folder, open, clock: systemClock });

    test.each<[string, SourceAddress]>([
      ['a request without credentials', repository],
      ['a request with another password', { ...repository, credentials: { ...credentials, password: 'guessed' } }],
      ['a request with another user name', { ...repository, credentials: { ...credentials, username: 'team-b' } }],
      ['the bearer of a token', { ...repository, credentials: { token: 'secret' } }],
      ['the same credentials elsewhere', { ...repository, credentials, repository: 'registry.example/team-b/stacks' }],
      ['a token for GitHub', { type: 'github', repository: 'team-a/stacks', token: 'secret' }],
      ['a folder', at],
    ])('is not returned to %s, although they know its digest', async (_, other) => {
      const store = guarded();
      const { digest } = await store.assets(withCredentials, { name }, never);
      for (const reader of [store, guarded()]) {
        await expect(reader.assets(other, { name, digest }, never)).rejects.toThrow(ReleaseNotFoundError);
      }
    });

    test('is returned to requests with the same credentials, also after a restart', async () => {
      const first = await guarded().assets(withCredentials, { name }, never);
      source.releases.clear();
      const again = await guarded().assets(withCredentials, { name, digest: first.digest }, never);
      expect(again).toEqual(first);
      expect(source.loads).toBe(1);
    });

    test('is cached in a folder whose name does not reveal the credentials', async () => {
      await guarded().assets(withCredentials, { name }, never);
      expect((await entries()).join()).not.toMatch(/team-a|secret/);
    });
  });

  test('keeps the pinned digest of a tag that was moved, and `current` shows that it was (defect 11)', async () => {
    const store = aStore();
    const { digest } = await store.assets(at, { name }, never);
    source.releases.set(name, { ...releaseFiles(), 'hashes.json': Buffer.from('{}') });
    await expect(store.assets(at, { name, digest }, never)).resolves.toMatchObject({ digest });
    const { digest: moved } = await store.current(at, name, never);
    expect(moved).not.toBe(digest);
    await expect(store.assets(at, { name }, never)).resolves.toMatchObject({ digest: moved });
    await rm(folder, { recursive: true });
    await expect(aStore().assets(at, { name, digest }, never)).rejects.toThrow('has changed');
  });

  test('loads a digest once for all concurrent requests', async () => {
    const store = aStore();
    const all = await Promise.all(Array.from({ length: 20 }, () => store.assets(at, { name }, never)));
    expect(source.loads).toBe(1);
    expect(new Set(all.map(({ clusterClassChart }) => clusterClassChart)).size).toBe(1);
  });

  test('continues to load for others when one caller leaves, and stops when all have left (defect 6)', async () => {
    const [one, two] = [new AbortController(), new AbortController()];
    const begun = Promise.withResolvers<AbortSignal>();
    const gate = Promise.withResolvers<undefined>();
    source.beforeFile = async (_, signal) => {
      begun.resolve(signal);
      await gate.promise;
    };
    const store = aStore();
    const first = store.assets(at, { name }, one.signal);
    const second = store.assets(at, { name }, two.signal);
    const shared = await begun.promise;
    one.abort(new Error('one leaves'));
    await expect(first).rejects.toThrow('one leaves');
    expect(shared.aborted).toBe(false);
    two.abort(new Error('two leaves'));
    await expect(second).rejects.toThrow('two leaves');
    expect(shared.aborted).toBe(true);
    gate.resolve(undefined);
    source.beforeFile = () => Promise.resolve();
    await expect(store.assets(at, { name }, never)).resolves.toMatchObject({ tag: name });
  });

  test('loads again after a failed load, and keeps nothing of that (defect 6)', async () => {
    source.beforeFile = (file) =>
      file === 'hashes.json' ? Promise.reject(new Error('the line broke')) : Promise.resolve();
    const store = aStore();
    await expect(store.assets(at, { name }, never)).rejects.toThrow('the line broke');
    await expect(entries()).resolves.toEqual([]);
    source.beforeFile = () => Promise.resolve();
    await expect(store.assets(at, { name }, never)).resolves.toMatchObject({ tag: name });
  });

  test('creates a single entry when two processes share a folder', async () => {
    const [one, two] = await Promise.all([aStore().assets(at, { name }, never), aStore().assets(at, { name }, never)]);
    expect(one).toEqual(two);
    await expect(entries()).resolves.toHaveLength(1);
    await expect(access(two.clusterClassChart)).resolves.toBeUndefined();
  });

  test('loads a damaged entry again: without a folder, without a file, or with a truncated file', async () => {
    const store = aStore();
    const { clusterClassChart, addons } = await store.assets(at, { name }, never);
    const stage = addons?.mode === 'stages' ? join(addons.folder, 'cni') : '';
    const losses = [
      () => rm(folder, { recursive: true }),
      () => rm(clusterClassChart),
      () => truncate(clusterClassChart, 3),
      () => rm(stage, { recursive: true }),
      async () => writeFile(join(clusterClassChart, '../../release.v1.json'), '{"half":'),
    ];
    for (const lose of losses) {
      const before = source.loads;
      await lose();
      await store.assets(at, { name, digest: source.digestOf(name) }, never);
      await expect(access(join(stage, 'Chart.yaml'))).resolves.toBeUndefined();
      expect(source.loads).toBe(before + 1);
    }
    await expect(entries()).resolves.toHaveLength(1);
  });

  test('ignores what a killed process left behind', async () => {
    await mkdir(join(folder, '.half/files'), { recursive: true });
    await writeFile(join(folder, '.half/files/metadata.yaml'), 'half');
    const store = aStore();
    await expect(store.assets(at, { name }, never)).resolves.toMatchObject({ tag: name });
    await store.collect(new Set([source.digestOf(name)]));
    expect(await entries()).toContain('.half');
    await utimes(join(folder, '.half'), new Date(0), new Date(0));
    await store.collect(new Set([source.digestOf(name)]));
    await expect(entries()).resolves.toHaveLength(1);
    expect(await entries()).not.toContain('.half');
  });

  test('collects releases that are neither in use nor recently requested', async () => {
    let time = 0;
    const clock: Clock = { ...systemClock, monotonic: () => time };
    const store = aStore(clock);
    source.releases.set('docker-scs-1-30-v2', releaseFiles({ version: 'v2' }));
    const one = await store.assets(at, { name }, never);
    const two = await store.assets(at, { name: 'docker-scs-1-30-v2' }, never);
    await store.collect(new Set());
    await expect(entries()).resolves.toHaveLength(2);
    time = 2 * 60 * 60_000;
    await store.collect(new Set([two.digest]));
    await expect(access(two.clusterClassChart)).resolves.toBeUndefined();
    await expect(access(one.clusterClassChart)).rejects.toThrow('ENOENT');
    await expect(store.assets(at, { name }, never)).resolves.toEqual(one);
  });

  test('forgets requests of releases that could not be fetched', async () => {
    let time = 0;
    const store = aStore({ ...systemClock, monotonic: () => time });
    for (let n = 0; n < 20; n += 1) {
      const digest = `sha256:${n.toString(16).padStart(64, '0')}`;
      await expect(store.assets(at, { name, digest }, never)).rejects.toThrow();
    }
    expect(store.remembered).toBe(20);
    time = 60 * 60_000;
    await store.collect(new Set());
    expect(store.remembered).toBe(0);
  });

  test('collects releases by itself that were not requested for an hour', async () => {
    let time = 0;
    const store = aStore({ ...systemClock, monotonic: () => time });
    source.releases.set('docker-scs-1-30-v2', releaseFiles({ version: 'v2' }));
    const one = await store.assets(at, { name }, never);
    const two = await store.assets(at, { name: 'docker-scs-1-30-v2' }, never);
    time = 2 * 60 * 60_000;
    await store.assets(at, { name: 'docker-scs-1-30-v2', digest: two.digest }, never);
    // It runs in the background, so nothing waits for it.
    while ((await entries()).length > 1) await new Promise(setImmediate);
    await expect(access(two.clusterClassChart)).resolves.toBeUndefined();
    await expect(access(one.clusterClassChart)).rejects.toThrow('ENOENT');
  });

  test('keeps releases for an hour after a restart', async () => {
    let time = 0;
    source.releases.set('docker-scs-1-30-v2', releaseFiles({ version: 'v2' }));
    await aStore().assets(at, { name }, never);
    const store = aStore({ ...systemClock, monotonic: () => time });
    await store.assets(at, { name: 'docker-scs-1-30-v2' }, never);
    const before = await entries();
    expect(before).toHaveLength(2);
    time = 59 * 60_000;
    await store.assets(at, { name: 'docker-scs-1-30-v2' }, never);
    // Removal runs in the background and would be done within a few of these.
    for (let turn = 0; turn < 20; turn++) await expect(entries()).resolves.toEqual(before);
  });

  test('does not collect folders that are not releases', async () => {
    await mkdir(join(folder, 'lost+found'));
    await aStore().collect(new Set());
    await expect(entries()).resolves.toEqual(['lost+found']);
  });

  test.each<[string, Record<string, string | Buffer | undefined>, string]>([
    [
      'without metadata.yaml',
      { 'metadata.yaml': undefined },
      'the release contains no metadata.yaml, only clusteraddon.yaml',
    ],
    ['with a broken metadata.yaml', { 'metadata.yaml': 'versions: [' }, 'metadata.yaml is not valid YAML'],
    [
      'with a stage that has no folder (defect 1)',
      { 'clusteraddon.yaml': 'addonStages: { BeforeClusterUpgrade: [{ name: csi, action: apply }] }' },
      'stage csi of BeforeClusterUpgrade has no folder in docker-scs-1-30-cluster-addon-v1.tgz, which contains cni',
    ],
    [
      'with a chart that is no archive',
      { 'docker-scs-1-30-cluster-class-v1.tgz': 'x' },
      'docker-scs-1-30-cluster-class-v1.tgz is not a complete gzipped tar archive',
    ],
    [
      'with a chart of links',
      { 'docker-scs-1-30-cluster-class-v1.tgz': archiveOf([{ path: 'a', type: 'SymbolicLink', linkpath: '/' }]) },
      'no links or devices',
    ],
    [
      'with stages that lead out',
      { 'docker-scs-1-30-cluster-addon-v1.tgz': archiveOf([{ path: '../../cni/x', content: '' }]) },
      'short, relative and without ..',
    ],
  ])('refuses a release %s with a message that names it, and keeps nothing of it', async (_, change, message) => {
    const files = { ...releaseFiles(), ...change };
    source.releases.set(
      name,
      Object.fromEntries(
        Object.entries(files).flatMap(([file, text]) => (text === undefined ? [] : [[file, Buffer.from(text)]])),
      ),
    );
    const failure = aStore().assets(at, { name }, never);
    await expect(failure).rejects.toThrow(BadReleaseError);
    await expect(failure).rejects.toThrow(`memory://stacks ${name} (${source.digestOf(name)}): `);
    await expect(failure).rejects.toThrow(message);
    await expect(entries()).resolves.toEqual([]);
  });

  test.each(['../x', 'sha256:../../x', 'sha512:00', ''])('refuses "%s" as a digest', async (digest) => {
    await expect(aStore().assets(at, { name, digest }, never)).rejects.toThrow('is not a SHA-256 digest of a release');
  });
});
