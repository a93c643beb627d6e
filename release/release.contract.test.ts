import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';

import { resolveTools } from '../e2e/tools/resolve.ts';
import { artifactOf, digestOf, emptyConfig } from './oci-content.ts';
import { registryAddress } from './registry-address.ts';
import { Registry } from './registry.ts';
import { RunningRegistry } from './running-registry.ts';
import { isSignedBy, signatureOf, tagBeside } from './signature.ts';

const run = promisify(execFile);
const version = '0.1.8';
/** The password is release-password. */
const users = 'steward:$2y$05$abcdefghijklmnopqrstuuAU3sH7TZg3uJb3RlYLqp/r2gjxB919O\n';
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

interface Manifest {
  readonly artifactType?: string;
  readonly config: { readonly digest: string };
  readonly layers: readonly { readonly digest: string; readonly annotations?: Readonly<Record<string, string>> }[];
  readonly manifests?: readonly { readonly digest: string; readonly platform: object }[];
}

// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller names the shape
const json = <T>(bytes: Uint8Array): T => JSON.parse(Buffer.from(bytes).toString()) as T;

let folder: string;
let registry: RunningRegistry;
let out: string;

const repository = (name: string): Registry =>
  new Registry(registryAddress(`${registry.host}/team/${name}`), { plainHttp: true });

const manifestAt = async (name: string, reference: string): Promise<{ manifest: Manifest; digest: string }> => {
  const found = await repository(name).manifest(reference);
  if (found === undefined) throw new Error(`there is no ${name}:${reference}`);
  return { manifest: json<Manifest>(found.bytes), digest: found.descriptor.digest };
};

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
  test('has the image under its tag: an index of this architecture, layers compressed, what they hold as configured', async () => {
    const { manifest: index } = await manifestAt('steward', `v${version}`);
    expect(index.manifests).toMatchObject([{ platform: { os: 'linux' } }]);
    const { manifest } = await manifestAt('steward', index.manifests?.[0]?.digest ?? '');
    const config = json<{
      readonly config: Readonly<Record<string, unknown>>;
      readonly rootfs: { readonly diff_ids: readonly string[] };
    }>(await repository('steward').blob(manifest.config.digest));
    expect(config.config).toMatchObject({ Entrypoint: ['/manager'], User: '65532:65532', Cmd: ['manager'] });
    const layers = await Promise.all(manifest.layers.map(({ digest }) => repository('steward').blob(digest)));
    expect(layers.map((layer) => digestOf(gunzipSync(layer)))).toEqual(config.rootfs.diff_ids);
    expect(gunzipSync(layers[1] ?? new Uint8Array()).includes(`"v${version}"`)).toBe(true);
  });

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
    const components = await repository('steward-components').blob(named.get('control-plane-components.yaml') ?? '');
    expect(Buffer.from(components).toString()).toContain(`image: ${registry.host}/team/steward:v${version}\n`);
    // The same files are a repository of clusterctl.
    expect(await readdir(path.join(out, 'control-plane-steward', `v${version}`))).toEqual([...named.keys()]);
  });

  test('has signatures of every artifact, by this key and no other, over this digest and no other', async () => {
    const signed = (await readFile(path.join(out, 'digests.txt'), 'utf8')).trimEnd().split('\n');
    expect(signed).toHaveLength(5);
    const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
    for (const line of signed) {
      const [, digest = '', name = ''] = /^(sha256:[0-9a-f]{64}) {2}[^/]+\/team\/([^:]+):/.exec(line) ?? [];
      const found = await repository(name).manifest(tagBeside(digest, 'sig'));
      const bytes = found?.bytes ?? new Uint8Array();
      const payload = (layer: string): Promise<Uint8Array> => repository(name).blob(layer);
      expect(await isSignedBy(bytes, payload, { digest, publicKey })).toBe(true);
      expect(await isSignedBy(bytes, payload, { digest, publicKey: stranger })).toBe(false);
      expect(await isSignedBy(bytes, payload, { digest: `sha256:${'0'.repeat(64)}`, publicKey })).toBe(false);
    }
    expect(await readFile(path.join(out, 'steward.pub'), 'utf8')).toBe(
      publicKey.export({ type: 'spki', format: 'pem' }),
    );
  });

  test('has a bill of materials: bundled packages, Node, Debian’s libraries, and no development tool', async () => {
    const { digest } = await manifestAt('steward', `v${version}`);
    const { manifest } = await manifestAt('steward', tagBeside(digest, 'sbom'));
    const bytes = await repository('steward').blob(manifest.layers[0]?.digest ?? '');
    expect(Buffer.from(bytes)).toEqual(await readFile(path.join(out, 'sbom.cdx.json')));
    const { components } = json<{ components: readonly { name: string; version: string; purl?: string }[] }>(bytes);
    const names = components.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'undici',
        'semver',
        'pg-protocol',
        'etcd3',
        'node',
        'libc6',
        'libstdc++6',
        'ca-certificates',
      ]),
    );
    for (const tool of ['jest', 'typescript', 'esbuild', 'eslint']) expect(names).not.toContain(tool);
    for (const component of components) expect(component.version).not.toBe('');
  });

  test('comes with its notes', async () => {
    expect(await readFile(path.join(out, 'release-notes.md'), 'utf8')).toContain('Cluster API');
  });

  test('is never replaced', async () => {
    await expect(publish()).rejects.toThrow(/steward-components:v0\.1\.8 already exists; a version is never replaced/);
  });
});

describe('a registry', () => {
  const artifact = artifactOf(emptyConfig, [], { artifactType: 'application/vnd.example' });

  test('that asks for a password gets the given one, and without one the person is told what is missing', async () => {
    await using closed = await RunningRegistry.start(path.join(folder, 'closed'), users);
    const address = registryAddress(`${closed.host}/team/x`);
    const push = (password?: string): Promise<string> =>
      new Registry(address, {
        plainHttp: true,
        credentials: password === undefined ? undefined : { username: 'steward', password },
      }).push(artifact, 'one');
    await expect(push()).rejects.toThrow(/answered 401 .*REGISTRY_USERNAME and REGISTRY_PASSWORD/);
    const refused = push('wrong-password');
    await expect(refused).rejects.toThrow(/answered 401/);
    await expect(refused).rejects.not.toThrow(/wrong-password/);
    await expect(push('release-password')).resolves.toBe(artifact.manifest.descriptor.digest);
  });

  test('without TLS is not spoken to unless that is asked for', async () => {
    const address = registryAddress(`${registry.host}/team/x`);
    await expect(new Registry(address).push(artifact, 'one')).rejects.toThrow(
      /--plain-http is for a registry without TLS/,
    );
  });

  test('keeps a signature that somebody changed, and it is no signature', async () => {
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
