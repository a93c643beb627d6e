import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

import type { Artifact, Content, Descriptor } from '../clusterstacks/sources/oci/artifact.ts';
import { artifactOf, content } from '../clusterstacks/sources/oci/artifact.ts';
import { runCommand } from '../e2e/cluster/machines/run-command.ts';

const compress = promisify(gzip);

interface Manifest {
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

/** An image for one platform. */
export interface PlatformImage {
  readonly image: Artifact;
  readonly platform: NonNullable<Descriptor['platform']>;
}

/** The image of an OCI archive of ours as a registry keeps it: layers compressed. */
export async function imageArtifact(archive: string): Promise<PlatformImage> {
  const layout = `${archive}.layout`;
  await mkdir(layout, { recursive: true });
  try {
    await runCommand('tar', ['-xf', archive, '-C', layout]);
    const blob = (digest: string): Promise<Buffer> => readFile(join(layout, 'blobs', digest.replace(':', '/')));
    const index = JSON.parse(await readFile(join(layout, 'index.json'), 'utf8')) as {
      readonly manifests: Descriptor[];
    };
    const [first] = index.manifests;
    if (first?.platform === undefined) throw new Error(`${archive} contains no image with a platform`);
    const manifest = JSON.parse((await blob(first.digest)).toString()) as Manifest;
    const config = content(manifest.config.mediaType, await blob(manifest.config.digest));
    const layers: Content[] = [];
    for (const { digest, mediaType } of manifest.layers) {
      // The configuration names layers by what is inside; compressing changes nothing of that.
      layers.push(content(`${mediaType}+gzip`, await compress(await blob(digest), { level: 6 })));
    }
    return { image: artifactOf(config, layers), platform: first.platform };
  } finally {
    await rm(layout, { recursive: true, force: true });
  }
}
