import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

import type { Artifact } from '../clusterstacks/sources/oci/artifact.ts';
import { artifactOf, emptyConfig, fileContent } from '../clusterstacks/sources/oci/artifact.ts';

/** The files of a folder as an artifact, each a layer under its name: `oras pull` and the Cluster API operator read it so. */
export async function filesArtifact(folder: string, artifactType: string): Promise<Artifact> {
  const names = (await readdir(folder)).sort();
  const layers = await Promise.all(
    names.map(async (name) => fileContent('application/yaml', name, await readFile(join(folder, name)))),
  );
  return artifactOf(emptyConfig, layers, { artifactType });
}
