import { copyFile, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { runCommand } from '../harness/run-command.ts';
import type { LocalProvider } from '../harness/clusterctl-repository.ts';
import { resolveTools } from '../tools/resolve.ts';

const root = join(import.meta.dirname, '..', '..');

/**
 * Writes the files of a provider's release, as clusterctl fetches them: the components from `clusterctl/` by kustomize,
 * `metadata.yaml` and the cluster templates.
 * @param into folder that gets them.
 */
export async function writeProviderRelease(into: string): Promise<LocalProvider> {
  const { kustomize } = await resolveTools(['kustomize']);
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  await mkdir(into, { recursive: true });
  const unrestricted = '--load-restrictor=LoadRestrictionsNone';
  const { stdout } = await runCommand(kustomize, ['build', unrestricted, join(root, 'clusterctl')]);
  await writeFile(join(into, 'control-plane-components.yaml'), stdout);
  await copyFile(join(root, 'metadata.yaml'), join(into, 'metadata.yaml'));
  const templates = join(root, 'templates');
  for (const file of await readdir(templates)) await copyFile(join(templates, file), join(into, file));
  return { type: 'ControlPlaneProvider', name: 'steward', version: `v${version}`, folder: into };
}
