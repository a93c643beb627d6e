import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { tarStream } from './tar-writer.ts';
import type { TarEntry } from './tar-writer.ts';

/** An image: names, layers and how it runs. */
export interface ImageDescription {
  /** Full names with tag, `registry.k8s.io/pause:3.10.2`; each becomes an image of its own when the archive is imported. */
  readonly names: readonly [string, ...string[]];
  /** Lowest first. Parent folders need not be named. */
  readonly layers: readonly (readonly TarEntry[])[];
  readonly architecture: 'amd64' | 'arm64';
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  /** `PATH` is set unless named here. */
  readonly environment?: Readonly<Record<string, string>>;
  /** `uid` or `uid:gid`. */
  readonly user?: string;
  readonly workingDirectory?: string;
  /** What asks its program to end, `SIGINT`; SIGTERM unless said. */
  readonly stopSignal?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** One content-addressed file of the archive. */
interface Blob {
  readonly digest: string;
  readonly size: number;
  readonly entry: TarEntry;
}

const imagePath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const digestOf = (bytes: string | Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

const blobPath = (digest: string): string => `blobs/${digest.replace(':', '/')}`;

/** Entries by path, each after its parent folders, which are added where they are missing. The last entry of a path wins. */
export const layerEntries = (entries: readonly TarEntry[]): readonly TarEntry[] => {
  const byPath = new Map<string, TarEntry>();
  for (const entry of entries) {
    const path = entry.path.replace(/^\/+|\/+$/g, '');
    if (path === '' || path.split('/').includes('..')) throw new Error(`"${entry.path}" is no path inside an image`);
    const parts = path.split('/');
    for (let depth = 1; depth < parts.length; depth++) {
      const folder = parts.slice(0, depth).join('/');
      if (!byPath.has(folder)) byPath.set(folder, { kind: 'folder', path: folder });
    }
    byPath.set(path, { ...entry, path });
  }
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
};

const measureLayer = async (entries: readonly TarEntry[]): Promise<Blob> => {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of tarStream(entries)) {
    hash.update(chunk);
    size += chunk.length;
  }
  const digest = `sha256:${hash.digest('hex')}`;
  // Read twice rather than held in memory: a layer may be hundreds of megabytes.
  return { digest, size, entry: { kind: 'stream', path: blobPath(digest), size, open: () => tarStream(entries) } };
};

const jsonBlob = (value: unknown): Blob => {
  const text = JSON.stringify(value);
  const digest = digestOf(text);
  return { digest, size: Buffer.byteLength(text), entry: { kind: 'text', path: blobPath(digest), text } };
};

const configuration = (image: ImageDescription, layers: readonly Blob[]): unknown => ({
  created: '1970-01-01T00:00:00Z',
  architecture: image.architecture,
  os: 'linux',
  config: {
    Env: Object.entries({ PATH: imagePath, ...image.environment }).map(([name, value]) => `${name}=${value}`),
    WorkingDir: image.workingDirectory ?? '/',
    Entrypoint: image.entrypoint,
    Cmd: image.command,
    User: image.user,
    StopSignal: image.stopSignal,
    Labels: image.labels,
  },
  rootfs: { type: 'layers', diff_ids: layers.map((layer) => layer.digest) },
});

const descriptor = (mediaType: string, { digest, size }: Blob): object => ({ mediaType, digest, size });

const manifestType = 'application/vnd.oci.image.manifest.v1+json';

const index = (image: ImageDescription, manifest: Blob): unknown => ({
  schemaVersion: 2,
  mediaType: 'application/vnd.oci.image.index.v1+json',
  manifests: image.names.map((name) => ({
    ...descriptor(manifestType, manifest),
    platform: { os: 'linux', architecture: image.architecture },
    annotations: {
      'io.containerd.image.name': name,
      'org.opencontainers.image.ref.name': name.slice(name.lastIndexOf(':') + 1),
    },
  })),
});

const layerType = 'application/vnd.oci.image.layer.v1.tar';
const configType = 'application/vnd.oci.image.config.v1+json';

/**
 * Writes an OCI image archive (image-spec v1, uncompressed layers) that `ctr images import` understands, and returns the
 * manifest's digest. Equal descriptions over equal files give equal bytes. Throws when a file is missing or changes meanwhile.
 */
export const writeImageArchive = async (image: ImageDescription, path: string): Promise<string> => {
  const layers: Blob[] = [];
  for (const layer of image.layers) layers.push(await measureLayer(layerEntries(layer)));
  const config = jsonBlob(configuration(image, layers));
  const manifest = jsonBlob({
    schemaVersion: 2,
    mediaType: manifestType,
    config: descriptor(configType, config),
    layers: layers.map((layer) => descriptor(layerType, layer)),
  });
  const blobs = new Map([...layers, config, manifest].map((blob) => [blob.digest, blob.entry]));
  const entries: readonly TarEntry[] = [
    { kind: 'text', path: 'oci-layout', text: '{"imageLayoutVersion":"1.0.0"}' },
    { kind: 'text', path: 'index.json', text: JSON.stringify(index(image, manifest)) },
    ...blobs.values(),
  ];
  await pipeline(tarStream(entries), createWriteStream(path));
  return manifest.digest;
};
