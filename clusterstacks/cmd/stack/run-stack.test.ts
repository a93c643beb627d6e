import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ReleaseNotFoundError } from '../../sources/asset-errors.ts';
import type { Artifact } from '../../sources/oci/artifact.ts';
import { digestOf } from '../../sources/oci/artifact.ts';
import { stackTree } from '../../../testing/worlds/stacks/stack-tree.ts';
import { UsageError } from '../../../cmd/flags/flags.ts';
import { runStack, stackUsage } from './run-stack.ts';
import type { RepositoryAccess, StackWorld } from './run-stack.ts';

let folder = '';
let printed: string[] = [];
let opened: RepositoryAccess[] = [];
/** What the repository of the test holds: blobs by digest, manifests by tag. */
let blobs = new Map<string, Buffer>();
let tags = new Map<string, Buffer>();

interface Layer {
  readonly mediaType: string;
  readonly digest: string;
  readonly annotations: Readonly<Record<string, string>>;
}
interface Manifest {
  readonly artifactType: string;
  readonly config: { readonly mediaType: string };
  readonly layers: readonly Layer[];
  readonly annotations: Readonly<Record<string, string>>;
}
const manifestOf = (tag: string): Manifest => JSON.parse(tags.get(tag)?.toString() ?? '{}') as Manifest;

function world(environment: StackWorld['environment'] = {}): StackWorld {
  return {
    environment,
    print: (line) => printed.push(line),
    now: () => new Date('2026-11-22T10:00:00.123Z'),
    signal: new AbortController().signal,
    open: (access) => {
      opened.push(access);
      return { source, target };
    },
  };
}

const target = {
  address: 'registry.example/stacks',
  manifest: (tag: string) => {
    const bytes = tags.get(tag);
    if (bytes === undefined) return Promise.reject(new ReleaseNotFoundError(`no ${tag}`));
    return Promise.resolve({ digest: digestOf(bytes), bytes });
  },
  push: ({ manifest, blobs: parts }: Artifact, tag: string) => {
    for (const { descriptor, bytes } of parts) blobs.set(descriptor.digest, Buffer.from(bytes));
    // As a registry does: what a manifest names is there.
    const { layers } = JSON.parse(Buffer.from(manifest.bytes).toString()) as Manifest;
    for (const { digest } of layers) if (!blobs.has(digest)) throw new Error(`blob ${digest} is unknown`);
    tags.set(tag, Buffer.from(manifest.bytes));
    return Promise.resolve(digestOf(manifest.bytes));
  },
};

const source = {
  address: 'oci://registry.example/stacks',
  list: () => Promise.resolve([...tags.keys()].map((tag) => ({ tag }))),
  resolve: (tag: string) => Promise.resolve({ digest: digestOf(tags.get(tag) ?? Buffer.alloc(0)) }),
  load: async ({ tag }: { readonly tag: string }, into: string) => {
    for (const { digest, annotations } of manifestOf(tag).layers) {
      await writeFile(join(into, annotations['org.opencontainers.image.title'] ?? ''), blobs.get(digest) ?? '');
    }
  },
};

async function writeTree(changes: Readonly<Record<string, string | undefined>> = {}): Promise<string> {
  const tree = join(folder, 'tree');
  await rm(tree, { recursive: true, force: true });
  for (const [path, bytes] of stackTree(changes)) {
    await mkdir(dirname(join(tree, path)), { recursive: true });
    await writeFile(join(tree, path), bytes);
  }
  return tree;
}

const out = (): string => join(folder, 'out');
const run = (words: string, ...more: readonly string[]): Promise<number> =>
  runStack([...words.split(' '), ...more], world());
const otherClass = { 'cluster-class/values.yaml': 'images: other.example\nmore: 1\n' };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stack-'));
  printed = [];
  opened = [];
  blobs = new Map();
  tags = new Map();
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('steward stack build', () => {
  test('counts versions from the content of the output folder', async () => {
    expect(await run(`build ${await writeTree()} --output=${out()}`)).toBe(0);
    expect(await run(`build ${await writeTree(otherClass)} --output=${out()}`)).toBe(0);
    expect(await readdir(out())).toEqual(['docker-steward-1-33-v1', 'docker-steward-1-33-v2']);
    expect(printed).toContain('docker-steward-1-33-v2: Kubernetes v1.33.1, stack v2, add-ons v1');
  });

  test('refuses a release without a change', async () => {
    const tree = await writeTree();
    await run(`build ${tree} --output=${out()}`);
    expect(await run(`build ${tree} --output=${out()}`)).toBe(1);
    expect(printed.at(-1)).toBe(
      'steward stack build: nothing changed since docker-steward-1-33-v1: there is nothing to release',
    );
  });

  test('in mode hash writes the same release again without output, and never another one under its name', async () => {
    const tree = await writeTree();
    expect(await run(`build ${tree} --mode=hash --output=${out()}`)).toBe(0);
    expect(await run(`build ${tree} --mode=hash --output=${out()}`)).toBe(0);
    const [name = ''] = await readdir(out());
    await writeFile(join(out(), name, 'metadata.yaml'), 'changed');
    expect(await run(`build ${tree} --mode=hash --output=${out()}`)).toBe(1);
    expect(printed.at(-1)).toContain('already contains another release (metadata.yaml differs)');
  });

  test('counts from the releases of a repository, which the environment names, with other tags in it', async () => {
    await run(`build ${await writeTree()} --output=${out()}`);
    await run(`push ${join(out(), 'docker-steward-1-33-v1')} --repository=registry.example/stacks`);
    tags.set('latest', Buffer.from('{}'));
    const environment = { OCI_REPOSITORY: 'registry.example/stacks', OCI_USERNAME: 'me', OCI_PASSWORD: 'secret' };
    const args = ['build', await writeTree(otherClass), `--output=${join(folder, 'elsewhere')}`];
    expect(await runStack(args, world(environment))).toBe(0);
    expect(await readdir(join(folder, 'elsewhere'))).toEqual(['docker-steward-1-33-v2']);
    expect(opened.at(-1)).toEqual({
      repository: 'registry.example/stacks',
      plainHttp: false,
      credentials: { username: 'me', password: 'secret' },
    });
    expect(printed.join('\n')).not.toContain('secret');
  });

  test('requires versions in mode custom only', async () => {
    const tree = await writeTree();
    await expect(run(`build ${tree} --cluster-stack-version=v3 --output=${out()}`)).rejects.toThrow(
      'versions can only be set with --mode=custom',
    );
    await expect(run(`build ${tree} --mode=newest`)).rejects.toThrow(
      '--mode takes stable, hash or custom, got "newest"',
    );
    expect(await run(`build ${tree} --mode=custom --cluster-stack-version=v0-git.abc --output=${out()}`)).toBe(0);
    expect(await readdir(out())).toEqual(['docker-steward-1-33-v0-git-abc']);
  });
});

describe('steward stack push', () => {
  const release = (): string => join(out(), 'docker-steward-1-33-v1');
  const push = (environment: StackWorld['environment'] = {}): Promise<number> =>
    runStack(['push', release(), '--repository=registry.example/stacks', '--plain-http'], world(environment));

  test('writes the release in the layout of csctl', async () => {
    await run(`build ${await writeTree()} --output=${out()}`);
    expect(await push()).toBe(0);
    const { artifactType, config, layers, annotations } = manifestOf('docker-steward-1-33-v1');
    expect(artifactType).toBe('application/vnd.scs.cluster-stacks.v1');
    expect(config.mediaType).toBe('application/vnd.oci.empty.v1+json');
    expect(
      Object.fromEntries(layers.map((layer) => [layer.annotations['org.opencontainers.image.title'], layer.mediaType])),
    ).toEqual({
      'clusteraddon.yaml': 'application/vnd.scs.cluster-addon.config.layer.v1+yaml',
      'docker-steward-1-33-cluster-addon-v1.tgz': 'application/vnd.scs.cluster-addon.layer.v1.tar+gzip',
      'docker-steward-1-33-cluster-class-v1.tgz': 'application/vnd.scs.cluster-class.v1.tar+gzip',
      'hashes.json': 'application/vnd.scs.hashes.layer.v1+yaml',
      'metadata.yaml': 'application/vnd.scs.metadata.layer.v1+yaml',
    });
    expect(annotations).toMatchObject({
      kubernetesVersion: 'v1.33.1',
      hash: expect.stringMatching(/^[a-z0-9]{7}$/),
      'org.opencontainers.image.created': '2026-11-22T10:00:00Z',
    });
  });

  test('uses the time of a reproducible build', async () => {
    await run(`build ${await writeTree()} --output=${out()}`);
    await push({ SOURCE_DATE_EPOCH: '0' });
    const { annotations } = manifestOf('docker-steward-1-33-v1');
    expect(annotations['org.opencontainers.image.created']).toBe('1970-01-01T00:00:00Z');
  });

  test('changes nothing for the same release, and refuses another one under that name', async () => {
    await run(`build ${await writeTree()} --output=${out()}`);
    await push();
    const before = tags.get('docker-steward-1-33-v1');
    expect(await push({ SOURCE_DATE_EPOCH: '0' })).toBe(0);
    expect(printed.at(-1)).toMatch(/^registry\.example\/stacks:docker-steward-1-33-v1 sha256:\w+ \(already existed\)$/);
    await rm(out(), { recursive: true });
    await run(`build ${await writeTree(otherClass)} --output=${out()}`);
    expect(await push()).toBe(1);
    expect(printed.at(-1)).toContain('already exists with other content');
    expect(tags.get('docker-steward-1-33-v1')).toBe(before);
  });

  test('requires a repository, and the folder of a release', async () => {
    await expect(run(`push ${await writeTree()}`)).rejects.toThrow('--repository arg, or $OCI_REPOSITORY');
    expect(await run(`push ${await writeTree()} --repository=registry.example/stacks`)).toBe(1);
    expect(printed.at(-1)).toContain('has no metadata.yaml; use the folder of a built release');
  });
});

describe('steward stack diff', () => {
  test('names each different file, by layer, and the first different line', async () => {
    await run(`build ${await writeTree()} --output=${out()}`);
    const changed = await writeTree({
      ...otherClass,
      'cluster-addon/metrics/metrics.yaml': undefined,
      'cluster-addon/cni/values.yaml': 'a: b\n',
      'clusteraddon.yaml': 'addonStages:\n  AfterControlPlaneInitialized:\n    - {name: cni, action: apply}\n',
    });
    printed = [];
    expect(await run(`diff ${changed} --output=${out()}`)).toBe(1);
    expect(printed).toEqual([
      'cluster-addon/cni:',
      '  + values.yaml',
      'cluster-addon/metrics:',
      '  - metrics.yaml',
      'cluster-class:',
      '  ~ values.yaml, from line 1 on',
      'clusteraddon.yaml:',
      '  ~ the file, from line 1 on',
    ]);
  });

  test('finds no difference between a tree and its release, in a repository and in a folder', async () => {
    const tree = await writeTree();
    await run(`build ${tree} --output=${out()}`);
    const release = join(out(), 'docker-steward-1-33-v1');
    await run(`push ${release} --repository=registry.example/stacks`);
    for (const from of ['--repository=registry.example/stacks', `--release=${release}`, `--output=${out()}`]) {
      expect(await run(`diff ${tree} ${from}`)).toBe(0);
    }
    expect(printed.at(-1)).toBe(`${tree} is the same as docker-steward-1-33-v1`);
  });

  test('reports that there is nothing to compare with', async () => {
    expect(await run(`diff ${await writeTree()} --output=${out()}`)).toBe(1);
    expect(printed.at(-1)).toContain('has no release docker-steward-1-33-vN; set --release to another one');
  });
});

describe('steward stack lint', () => {
  test('finds add-ons of a release that changed without a version', async () => {
    await run(`build ${await writeTree()} --output=${out()}`);
    const changed = await writeTree({ 'cluster-addon/cni/values.yaml': 'a: b\n' });
    await run(`build ${changed} --mode=custom --cluster-stack-version=v2 --cluster-addon-version=v1 --output=${out()}`);
    expect(await run(`lint ${join(out(), 'docker-steward-1-33-v2')}`)).toBe(1);
    expect(printed.at(-1)).toContain('docker-steward-1-33-v2: add-ons v1 changed since docker-steward-1-33-v1');
  });

  test('reports a missing helm, and not that the charts are wrong', async () => {
    expect(await run(`lint ${await writeTree()} --helm=/no/helm`)).toBe(1);
    expect(printed.at(-1)).toMatch(
      /^steward stack lint: charts are rendered by helm, and \/no\/helm cannot be started/,
    );
  });
});

describe('A command line', () => {
  test.each([
    ['', 'choose one of build, push, diff, lint'],
    ['bake x', 'stack bake: choose one of build'],
    ['build', 'stack build needs the folder of a stack first'],
    ['push --repository=x', 'stack push needs the folder of a release first'],
    ['build x --speed=1', 'unknown flag --speed'],
  ])('"%s" is refused with the possible commands', async (words, message) => {
    const outcome = run(words);
    await expect(outcome).rejects.toThrow(message);
    await expect(outcome).rejects.toBeInstanceOf(UsageError);
  });

  test('with a folder that does not exist is refused with its name', async () => {
    expect(await run(`build ${join(folder, 'nothing')}`)).toBe(1);
    expect(printed.at(-1)).toContain('nothing cannot be read (ENOENT); use the folder of a stack');
  });

  test('--help lists every command, and the exit codes', () => {
    for (const word of ['build', 'push', 'diff', 'lint', 'Exit codes:', '--mode="stable"'])
      expect(stackUsage).toContain(word);
  });
});
