import { expect, test } from '@jest/globals';

import { artifactOf, emptyConfig, indexOf } from './artifact.ts';

test('An index has its media type, and names each image with its platform', () => {
  const image = artifactOf(emptyConfig, []);
  const platforms = ['amd64', 'arm64'].map((architecture) => ({ os: 'linux', architecture }));
  const index = indexOf(platforms.map((platform) => ({ image, platform })));
  const mediaType = 'application/vnd.oci.image.index.v1+json';
  expect(JSON.parse(Buffer.from(index.manifest.bytes).toString())).toEqual({
    schemaVersion: 2,
    mediaType,
    manifests: platforms.map((platform) => ({ ...image.manifest.descriptor, platform })),
  });
  expect(index.manifest.descriptor.mediaType).toBe(mediaType);
  expect(index.manifests).toEqual([image, image]);
});
