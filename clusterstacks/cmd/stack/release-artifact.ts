import type { Artifact } from '../../sources/oci/artifact.ts';
import { artifactOf, emptyConfig, fileContent } from '../../sources/oci/artifact.ts';
import type { KnownRelease } from './known-release.ts';

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

/**
 * The artifact of a release, as csctl lays it out in an OCI repository.
 * @param createdAt RFC 3339: it determines the newest release of the channel custom.
 */
export const releaseArtifact = ({ files, hashes, metadata }: KnownRelease, createdAt: string): Artifact =>
  artifactOf(
    emptyConfig,
    [...files].map(([name, bytes]) => fileContent(mediaTypeOf(name), name, bytes)),
    {
      artifactType: scs('cluster-stacks.v1'),
      annotations: {
        hash: hashes?.clusterStack.slice(0, 7) ?? '',
        kubernetesVersion: metadata.kubernetes,
        'org.opencontainers.image.created': createdAt,
      },
    },
  );
