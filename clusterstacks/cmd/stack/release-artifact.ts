import { createHash } from 'node:crypto';
import type { KnownRelease } from './known-release.ts';

/** A blob of an artifact. */
export interface ArtifactBlob {
  readonly mediaType: string;
  readonly digest: string;
  readonly bytes: Buffer;
  /** The file that it is. */
  readonly title: string;
}

/** A release as csctl lays it out in an OCI repository. */
export interface ReleaseArtifact {
  readonly blobs: readonly ArtifactBlob[];
  readonly config: Buffer;
  readonly manifestType: string;
  readonly manifest: Buffer;
}

const scs = (name: string): string => `application/vnd.scs.${name}`;

/** csctl's types, by the name of the file. */
function mediaTypeOf(name: string): string {
  if (name === 'metadata.yaml') return scs('metadata.layer.v1+yaml');
  if (name === 'hashes.json') return scs('hashes.layer.v1+yaml');
  if (name === 'clusteraddon.yaml') return scs('cluster-addon.config.layer.v1+yaml');
  if (name === 'node-images.yaml') return scs('node-image.config.layer.v1+yaml');
  if (!name.endsWith('.tgz')) return 'application/vnd.oci.image.layer.v1.tar';
  if (name.includes('cluster-addon')) return scs('cluster-addon.layer.v1.tar+gzip');
  if (name.includes('cluster-class')) return scs('cluster-class.v1.tar+gzip');
  return name.includes('node-image') ? scs('node-image.layer.v1.tar+gzip') : 'application/vnd.oci.image.layer.v1.tar';
}

const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/**
 * The artifact of a release (OCI image specification 1.1, "Guidance for an Empty Descriptor").
 * @param createdAt RFC 3339: it determines the newest release of the channel custom.
 */
export function releaseArtifact({ files, hashes, metadata }: KnownRelease, createdAt: string): ReleaseArtifact {
  const blobs = [...files].map(([title, bytes]) => ({
    mediaType: mediaTypeOf(title),
    digest: digestOf(bytes),
    bytes,
    title,
  }));
  const config = Buffer.from('{}');
  const manifestType = 'application/vnd.oci.image.manifest.v1+json';
  const manifest = {
    schemaVersion: 2,
    mediaType: manifestType,
    artifactType: scs('cluster-stacks.v1'),
    config: {
      mediaType: 'application/vnd.oci.empty.v1+json',
      digest: digestOf(config),
      size: config.length,
      data: config.toString('base64'),
    },
    layers: blobs.map(({ mediaType, digest, bytes, title }) => ({
      mediaType,
      digest,
      size: bytes.length,
      annotations: { 'org.opencontainers.image.title': title },
    })),
    annotations: {
      hash: hashes?.clusterStack.slice(0, 7) ?? '',
      kubernetesVersion: metadata.kubernetes,
      'org.opencontainers.image.created': createdAt,
    },
  };
  return { blobs, config, manifestType, manifest: Buffer.from(JSON.stringify(manifest)) };
}
