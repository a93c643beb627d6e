import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

import { Header } from 'tar';

/** An entry of an archive; anything may be written, also what no program writes. */
export interface ArchiveEntry {
  readonly path: string;
  readonly content?: string | Uint8Array;
  readonly type?: 'File' | 'Directory' | 'SymbolicLink' | 'Link' | 'CharacterDevice' | 'FIFO';
  readonly linkpath?: string;
  /** What the header says, where that is not the truth. */
  readonly size?: number;
}

/** A tar archive of these entries. */
export function tarOf(entries: readonly ArchiveEntry[]): Buffer {
  const blocks = entries.flatMap(({ path, content = '', type = 'File', linkpath, size }) => {
    const bytes = Buffer.from(content);
    const block = Buffer.alloc(512);
    const header = new Header({ path, type, mode: 0o644, size: size ?? bytes.length, linkpath });
    header.encode(block, 0);
    return [block, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

/** A packed archive, as releases have them. */
export const archiveOf = (entries: readonly ArchiveEntry[]): Buffer => gzipSync(tarOf(entries));

/** The SHA-256 of content as OCI writes it. */
export const sha256Of = (content: string | Uint8Array): string =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`;

const chartOf = (name: string, version: string): ArchiveEntry[] => [
  { path: `${name}/Chart.yaml`, content: `apiVersion: v2\nname: ${name}\nversion: ${version}\n` },
  { path: `${name}/templates/config.yaml`, content: 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: one }\n' },
];

/** The files of a release as csctl makes them, with a stage `cni`. */
export function releaseFiles(
  options: { readonly prefix?: string; readonly version?: string; readonly addon?: string } = {},
): Record<string, Buffer> {
  const { prefix = 'docker-scs-1-30', version = 'v1', addon = version } = options;
  return {
    'metadata.yaml': Buffer.from(
      `apiVersion: metadata.clusterstack.x-k8s.io/v1alpha1\nversions:\n  clusterStack: ${version}\n  kubernetes: v1.30.10\n  components:\n    clusterAddon: ${addon}\n    nodeImage: v1\n`,
    ),
    'clusteraddon.yaml': Buffer.from(
      'apiVersion: clusteraddonconfig.x-k8s.io/v1alpha1\naddonStages:\n  AfterControlPlaneInitialized:\n    - { name: cni, action: apply }\n',
    ),
    'hashes.json': Buffer.from('{"clusterStack":"abc"}'),
    [`${prefix}-cluster-class-${version}.tgz`]: archiveOf(chartOf(`${prefix}-cluster-class`, version)),
    [`${prefix}-cluster-addon-${addon}.tgz`]: archiveOf([
      { path: 'cni/', type: 'Directory' },
      ...chartOf('cni', '1.0.0'),
      { path: 'cni/overwrite.yaml', content: 'values: |\n  name: {{ .Cluster.metadata.name }}\n' },
    ]),
  };
}

const vendor = 'application/vnd.scs.';
/** Media types that csctl gives to the files of a release. */
const csctlTypes: readonly (readonly [RegExp, string])[] = [
  [/cluster-addon-v.*\.tgz$/, `${vendor}cluster-addon.layer.v1.tar+gzip`],
  [/cluster-class-v.*\.tgz$/, `${vendor}cluster-class.v1.tar+gzip`],
  [/^clusteraddon\.yaml$/, `${vendor}cluster-addon.config.layer.v1+yaml`],
  [/^metadata\.yaml$/, `${vendor}metadata.layer.v1+yaml`],
  [/^hashes\.json$/, `${vendor}hashes.layer.v1+yaml`],
];

/** How the manifest of a release is written. */
export interface ManifestOptions {
  /** csctl: media types of its own. oras: one generic type for every file, and another artifact type. */
  readonly as?: 'csctl' | 'oras';
  readonly createdAt?: string;
  /** Version of Kubernetes in csctl's annotation. */
  readonly kubernetes?: string;
}

/** The manifest of a release, of a digest that is the same for the same content. */
export function releaseManifest(files: Readonly<Record<string, Uint8Array>>, options: ManifestOptions = {}): Buffer {
  const { as = 'csctl', createdAt = '2026-02-03T04:05:06Z', kubernetes = 'v1.30.10' } = options;
  const layers = Object.entries(files).map(([title, bytes]) => ({
    mediaType:
      (as === 'csctl' ? csctlTypes.find(([pattern]) => pattern.test(title))?.[1] : undefined) ??
      'application/vnd.oci.image.layer.v1.tar',
    digest: sha256Of(bytes),
    size: bytes.length,
    annotations: { 'org.opencontainers.image.title': title },
  }));
  return Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: manifestType,
      artifactType: as === 'csctl' ? 'application/vnd.scs.cluster-stacks.v1' : 'application/vnd.clusterstack.release',
      config: { mediaType: 'application/vnd.oci.empty.v1+json', digest: sha256Of('{}'), size: 2, data: 'e30=' },
      layers,
      annotations: {
        ...(as === 'csctl' && { kubernetesVersion: kubernetes, hash: 'abcdefg' }),
        'org.opencontainers.image.created': createdAt,
      },
    }),
  );
}

/** The media type of manifests. */
export const manifestType = 'application/vnd.oci.image.manifest.v1+json';
