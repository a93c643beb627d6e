import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

import type { Artifact } from './oci-content.ts';
import { artifactOf, content, emptyConfig } from './oci-content.ts';

/** The files of a folder as an artifact, each a layer under its name: `oras pull` and the Cluster API operator read it so. */
export async function filesArtifact(folder: string, artifactType: string): Promise<Artifact> {
  const names = (await readdir(folder)).sort();
  const layers = await Promise.all(
    names.map(async (name) =>
      content('application/yaml', await readFile(join(folder, name)), {
        annotations: { 'org.opencontainers.image.title': name },
      }),
    ),
  );
  return artifactOf(emptyConfig, layers, { artifactType });
}
