import { artifactOf, jsonContent } from '../clusterstacks/sources/oci/artifact.ts';
import type { Artifact, Content } from '../clusterstacks/sources/oci/artifact.ts';

/** Something that cosign finds beside another artifact: an image without a platform, whose layer it is. */
export function cosignArtifact(layer: Content): Artifact {
  const config = jsonContent('application/vnd.oci.image.config.v1+json', {
    architecture: '',
    os: '',
    config: {},
    rootfs: { type: 'layers', diff_ids: [layer.descriptor.digest] },
  });
  return artifactOf(config, [layer]);
}
