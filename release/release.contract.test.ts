import { execFile } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';

import type { Descriptor } from '../clusterstacks/sources/oci/artifact.ts';
import { artifactOf, digestOf, emptyConfig } from '../clusterstacks/sources/oci/artifact.ts';
import { debianProgram } from '../e2e/tools/debian-program.ts';
import { resolveTools } from '../e2e/tools/resolve.ts';
import { toolEnvironment } from '../e2e/tools/tool-environment.ts';
import { attested } from './attestation.ts';
import { imageArtifact } from './image-artifact.ts';
import { managerPlaces, writeManagerImage } from './manager-image.ts';
import { architectures, ownArchitecture } from './system/image-system.ts';
import type { Architecture } from './system/image-system.ts';
import { openRepository } from './open-repository.ts';
import { imageLabels } from './publish-release.ts';
import { pushChart } from './push-chart.ts';
import { RunningRegistry } from './running-registry.ts';
import { isSignedBy, signatureOf, tagBeside } from './signature.ts';

const run = promisify(execFile);
const version = '0.1.8';
const root = path.join(import.meta.dirname, '..');
/** The password is release-password. */
const users = 'steward:$2y$05$abcdefghijklmnopqrstuuAU3sH7TZg3uJb3RlYLqp/r2gjxB919O\n';
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

interface Manifest {
  readonly artifactType?: string;
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
  readonly manifests?: readonly Descriptor[];
}

// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller names the shape
const json = <T>(bytes: Uint8Array): T => JSON.parse(Buffer.from(bytes).toString()) as T;

let folder: string;
let registry: RunningRegistry;
let out: string;

/** What the registry answers to a reader that is not ours, checked against its digest. */
async function read(name: string, kind: 'manifests' | 'blobs', reference: string): Promise<Buffer> {
  const accept = 'application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json';
  const response = await fetch(`http://${registry.host}/v2/team/${name}/${kind}/${reference}`, { headers: { accept } });
  if (!response.ok) throw new Error(`there is no ${name} ${reference}: ${response.status}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  if (reference.startsWith('sha256:')) expect(digestOf(bytes)).toBe(reference);
  return bytes;
}
const blob = (name: string, digest = ''): Promise<Buffer> => read(name, 'blobs', digest);

const manifestAt = async (name: string, reference: string): Promise<{ manifest: Manifest; digest: string }> => {
  const bytes = await read(name, 'manifests', reference);
  return { manifest: json<Manifest>(bytes), digest: digestOf(bytes) };
};

const unpackedImages = new Map<Architecture, Promise<string>>();

/** The folder with all files of the image for an architecture, as the registry has it. */
function unpackedImage(architecture: Architecture): Promise<string> {
  const known = unpackedImages.get(architecture) ?? unpackImage(architecture);
  unpackedImages.set(architecture, known);
  return known;
}

async function unpackImage(architecture: Architecture): Promise<string> {
  const { manifest: index } = await manifestAt('steward', `v${version}`);
  const one = index.manifests?.find(({ platform }) => platform?.architecture === architecture);
  const { manifest } = await manifestAt('steward', one?.digest ?? '');
  const image = path.join(folder, `root-${architecture}`);
  await mkdir(image);
  for (const { digest } of manifest.layers) {
    const layer = path.join(folder, `layer-${architecture}.tar.gz`);
    await writeFile(layer, await blob('steward', digest));
    await run('tar', ['-xzf', layer, '-C', image]);
  }
  return image;
}

const publish = (...more: readonly string[]): Promise<unknown> =>
  run(
    process.execPath,
    [
      ...[path.join(import.meta.dirname, 'main.ts'), 'publish', '--version', `v${version}`, '--plain-http'],
      ...['--registry', `${registry.host}/team`, '--out', out, ...more],
    ],
    { env: { ...process.env, SIGNING_KEY_PASSWORD: 'of-the-key' } },
  );

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'steward-release-'));
  registry = await RunningRegistry.start(path.join(folder, 'registry'));
  out = path.join(folder, 'out');
  const key = path.join(folder, 'key.pem');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'of-the-key' });
  await writeFile(key, pem, { mode: 0o600 });
  await publish('--key', key);
}, 300_000);

afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

describe('a published release', () => {
  test('has the image under its tag: an index of two architectures, layers compressed, what they hold as configured', async () => {
    const { manifest: index } = await manifestAt('steward', `v${version}`);
    expect(index.manifests?.map(({ platform }) => platform)).toEqual([
      { os: 'linux', architecture: 'amd64' },
      { os: 'linux', architecture: 'arm64' },
    ]);
    for (const { digest, platform } of index.manifests ?? []) {
      const { manifest } = await manifestAt('steward', digest);
      const config = json<{
        readonly architecture: string;
        readonly config: Readonly<Record<string, unknown>>;
        readonly rootfs: { readonly diff_ids: readonly string[] };
      }>(await blob('steward', manifest.config.digest));
      expect(config.architecture).toBe(platform?.architecture);
      expect(config.config).toMatchObject({ Entrypoint: ['/manager'], User: '65532:65532', Cmd: ['manager'] });
      const layers = await Promise.all(manifest.layers.map((layer) => blob('steward', layer.digest)));
      expect(layers.map((layer) => digestOf(gunzipSync(layer)))).toEqual(config.rootfs.diff_ids);
      expect(gunzipSync(layers[1] ?? new Uint8Array()).includes(`"v${version}"`)).toBe(true);
    }
  });

  test.each(architectures)(
    'has a program that runs on %s, with nothing but what is in the image',
    async (architecture) => {
      const image = await unpackedImage(architecture);
      const inside = [managerPlaces.node, managerPlaces.target, 'version'];
      if (architecture === ownArchitecture) {
        expect((await run('chroot', [image, ...inside])).stdout).toBe(`v${version}\n`);
        return;
      }
      const machine = { amd64: 'x86_64', arm64: 'aarch64' }[architecture];
      const emulator = { name: 'qemu-user-static', program: `usr/bin/qemu-${machine}-static` };
      await copyFile(await debianProgram(emulator, toolEnvironment().cacheFolder), path.join(image, 'emulator'));
      expect((await run('chroot', [image, '/emulator', ...inside])).stdout).toBe(`v${version}\n`);
    },
    180_000,
  );

  test('has charts that helm pulls, and that install this very image', async () => {
    const { helm } = await resolveTools(['helm']);
    for (const chart of ['steward', 'steward-crds']) {
      const reference = `oci://${registry.host}/team/charts/${chart}`;
      await run(helm, ['pull', reference, '--version', version, '--plain-http', '--destination', folder]);
    }
    const { stdout } = await run(helm, ['template', 'steward', path.join(folder, `steward-${version}.tgz`)]);
    const images = parseAllDocuments(stdout).flatMap((document) => {
      const manifest = document.toJS() as {
        kind: string;
        spec: { template: { spec: { containers: { image: string }[] } } };
      };
      return manifest.kind === 'Deployment' ? manifest.spec.template.spec.containers.map(({ image }) => image) : [];
    });
    expect(images).toEqual([`${registry.host}/team/steward:v${version}`]);
  });

  test('has the provider’s files by name, and components of this very image', async () => {
    const { manifest } = await manifestAt('steward-components', `v${version}`);
    const named = new Map(
      manifest.layers.map(({ digest, annotations }) => [annotations?.['org.opencontainers.image.title'], digest]),
    );
    expect([...named.keys()]).toEqual(expect.arrayContaining(['control-plane-components.yaml', 'metadata.yaml']));
    const components = await blob('steward-components', named.get('control-plane-components.yaml'));
    expect(components.toString()).toContain(`image: ${registry.host}/team/steward:v${version}\n`);
    // The same files are a repository of clusterctl.
    expect(await readdir(path.join(out, 'control-plane-steward', `v${version}`))).toEqual([...named.keys()]);
  });

  test('has signatures of every artifact, by this key and no other, over this digest and no other', async () => {
    const signed = (await readFile(path.join(out, 'digests.txt'), 'utf8')).trimEnd().split('\n');
    expect(signed).toHaveLength(5);
    const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
    for (const line of signed) {
      const [, digest = '', name = ''] = /^(sha256:[0-9a-f]{64}) {2}[^/]+\/team\/([^:]+):/.exec(line) ?? [];
      const bytes = await read(name, 'manifests', tagBeside(digest, 'sig'));
      const payload = (layer: string): Promise<Uint8Array> => blob(name, layer);
      expect(await isSignedBy(bytes, payload, { digest, publicKey })).toBe(true);
      expect(await isSignedBy(bytes, payload, { digest, publicKey: stranger })).toBe(false);
      expect(await isSignedBy(bytes, payload, { digest: `sha256:${'0'.repeat(64)}`, publicKey })).toBe(false);
    }
    expect(await readFile(path.join(out, 'steward.pub'), 'utf8')).toBe(
      publicKey.export({ type: 'spki', format: 'pem' }),
    );
  });

  test('has a bill of materials: what the bundler took with its checksums, Node, Debian’s libraries, and nothing else', async () => {
    const { digest } = await manifestAt('steward', `v${version}`);
    const { manifest } = await manifestAt('steward', tagBeside(digest, 'sbom'));
    const bytes = await blob('steward', manifest.layers[0]?.digest);
    expect(bytes).toEqual(await readFile(path.join(out, 'sbom.cdx.json')));
    const { components } = json<{
      components: readonly { name: string; version: string; purl: string; hashes?: unknown }[];
    }>(bytes);
    const names = components.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'undici',
        'semver',
        'pg-protocol',
        'pg-cloudflare',
        'etcd3',
        'yargs',
        'node',
        'libc6',
        'libstdc++6',
        'ca-certificates',
      ]),
    );
    // The last two are dependencies of dependencies of which nothing is in the bundle.
    for (const tool of ['jest', 'typescript', 'esbuild', 'eslint', 'chownr', 'text-hex'])
      expect(names).not.toContain(tool);
    for (const component of components) expect(component.version).not.toBe('');
    const npm = components.filter(({ purl }) => purl.startsWith('pkg:npm/'));
    expect(npm.filter(({ hashes }) => hashes === undefined)).toEqual([]);
  });

  test('has a signed provenance that names the image, the commit and the lock file', async () => {
    const { digest } = await manifestAt('steward', `v${version}`);
    const { manifest } = await manifestAt('steward', tagBeside(digest, 'att'));
    const statement = attested(await blob('steward', manifest.layers[0]?.digest), publicKey);
    const lock = createHash('sha256').update(await readFile(path.join(root, 'package-lock.json')));
    const { stdout: commit } = await run('git', ['rev-parse', 'HEAD'], { cwd: root });
    expect(statement).toMatchObject({
      subject: [{ name: `${registry.host}/team/steward`, digest: { sha256: digest.replace('sha256:', '') } }],
      predicate: {
        buildDefinition: {
          resolvedDependencies: [{ digest: { gitCommit: commit.trim() } }, { digest: { sha256: lock.digest('hex') } }],
        },
      },
    });
    expect(json(await readFile(path.join(out, 'provenance.json')))).toEqual(statement);
  });

  test('has an image that is the same, byte by byte, when it is built again', async () => {
    const archive = path.join(folder, 'again.tar');
    const name = `${registry.host}/team/steward:v${version}`;
    await writeManagerImage(archive, { name, version, labels: imageLabels(version) });
    const again = await imageArtifact(archive);
    const { manifest } = await manifestAt('steward', `v${version}`);
    expect(manifest.manifests?.map(({ digest }) => digest)).toContain(again.image.manifest.descriptor.digest);
  });

  test.each(architectures)('has the licenses of everything that is in the image for %s', async (architecture) => {
    const image = await unpackedImage(architecture);
    const text = (name: string): Promise<string> => readFile(path.join(image, name), 'utf8');
    const { packages } = JSON.parse(await text('app/package.json')) as { packages: readonly string[] };
    expect(packages.length).toBeGreaterThan(50);
    expect(await text('app/THIRD-PARTY-NOTICES.txt')).toContain(`contains ${packages.length} packages of others`);
    for (const name of ['libc6', 'libstdc++6', 'libgcc-s1', 'ca-certificates'])
      expect(await text(`usr/share/doc/${name}/copyright`)).toMatch(/licen[cs]e/i);
    expect(await text('nodejs/LICENSE')).toContain('Node.js');
  });

  test('comes with its notes', async () => {
    expect(await readFile(path.join(out, 'release-notes.md'), 'utf8')).toContain('Cluster API');
  });

  test('has the files that the hosted workflow puts on the page of the release', async () => {
    const workflow = await readFile(path.join(import.meta.dirname, '../.github/workflows/release.yaml'), 'utf8');
    const { jobs } = parse(workflow) as { jobs: { release: { steps: readonly { run?: string }[] } } };
    const script = jobs.release.steps.map(({ run: lines = '' }) => lines).join('\n');
    expect(script).toContain('npm run release -- --version "$GITHUB_REF_NAME" --registry "$REGISTRY"');
    const named = [...script.matchAll(/dist\/release\/(\S+)/g)].map(([, name = '']) =>
      name.replace('"$GITHUB_REF_NAME"', `v${version}`).replace(/\/\*$/, ''),
    );
    expect(named).toHaveLength(5);
    for (const name of named) expect(existsSync(path.join(out, name))).toBe(true);
  });

  test('is never replaced', async () => {
    await expect(publish()).rejects.toThrow(/steward-components:v0\.1\.8 already exists; a version is never replaced/);
  });
});

describe('a registry', () => {
  const never = new AbortController().signal;
  const artifact = artifactOf(emptyConfig, [], { artifactType: 'application/vnd.example' });

  test('that requires a password gets the given one, and without one the error names what is missing', async () => {
    await using closed = await RunningRegistry.start(path.join(folder, 'closed'), users);
    const push = (password?: string): Promise<string> => {
      const credentials = password === undefined ? undefined : { username: 'steward', password };
      return openRepository(`${closed.host}/team/x`, { plainHttp: true, credentials }).push(artifact, 'one', never);
    };
    await expect(push()).rejects.toThrow(/returned 401.*REGISTRY_USERNAME and REGISTRY_PASSWORD/);
    const refused = push('wrong-password');
    await expect(refused).rejects.toThrow(/returned 401.*check that the credentials/);
    await expect(refused).rejects.not.toThrow(/wrong-password/);
    await expect(push('release-password')).resolves.toBe(artifact.manifest.descriptor.digest);
    const [chart, version] = ['steward-crds', '0.1.8'] as const;
    const pushed = (password: string): Promise<string> =>
      pushChart({ chart, version, image: 'r.example/s', into: folder }, `${closed.host}/team/charts`, {
        plainHttp: true,
        credentials: { username: 'steward', password },
      });
    await expect(pushed('release-password')).resolves.toMatch(/^sha256:/);
    await expect(pushed('wrong-password')).rejects.toThrow(/401|unauthorized/i);
    await expect(pushed('wrong-password')).rejects.not.toThrow(/wrong-password/);
  });

  test('without TLS gets no request unless that is enabled', async () => {
    const repository = openRepository(`${registry.host}/team/x`, { plainHttp: false });
    await expect(repository.push(artifact, 'one', never)).rejects.toThrow(
      /set --plain-http for a registry without TLS/,
    );
  });

  test('may return a changed signature, which is not accepted', async () => {
    const { digest } = artifact.manifest.descriptor;
    const { manifest, blobs } = signatureOf('r.example/x', digest, privateKey);
    const changed = Buffer.from(
      JSON.stringify(json(blobs[1]?.bytes ?? new Uint8Array())).replace(digest, digest.replace(/.$/, '!')),
    );
    await expect(isSignedBy(manifest.bytes, () => Promise.resolve(changed), { digest, publicKey })).resolves.toBe(
      false,
    );
  });
});
