import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { runCommand } from '../e2e/cluster/machines/run-command.ts';
import type { LocalProvider } from '../e2e/cluster/clusterctl-repository.ts';
import { resolveTools } from '../e2e/tools/resolve.ts';
import { managerImage } from './manager-image.ts';
import { releaseVersion } from './release-version.ts';

const root = join(import.meta.dirname, '..');

/** What differs from the files as they stand in the repository. */
export interface ProviderReleaseOptions {
  /** With or without a leading v; that of package.json by default. */
  readonly version?: string | undefined;
  /** Full reference of the manager's image; that of config/manager by default. */
  readonly image?: string | undefined;
}

/**
 * Writes the files of a provider's release, as clusterctl fetches them: the components from `clusterctl/` by kustomize,
 * `metadata.yaml`, the cluster templates and the ClusterClasses.
 * @param into folder that gets them.
 */
export async function writeProviderRelease(into: string, options: ProviderReleaseOptions = {}): Promise<LocalProvider> {
  const { kustomize } = await resolveTools(['kustomize']);
  const version = await releaseVersion(options.version);
  const image = options.image ?? managerImage;
  await mkdir(into, { recursive: true });
  const { stdout } = await runCommand(kustomize, ['build', join(root, 'clusterctl')]);
  await writeFile(join(into, 'control-plane-components.yaml'), stdout.replaceAll(managerImage, image));
  await copyFile(join(root, 'metadata.yaml'), join(into, 'metadata.yaml'));
  for (const file of await templateFiles()) await copyFile(file, join(into, basename(file)));
  return { type: 'ControlPlaneProvider', name: 'steward', version: `v${version}`, folder: into };
}

/** Templates and classes, in whatever folders they are kept; a release has all of them side by side. */
async function templateFiles(): Promise<readonly string[]> {
  const entries = await readdir(join(root, 'templates'), { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && /^(cluster-template|clusterclass-).*\.yaml$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const names = files.map((file) => basename(file));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new Error(`templates/ has two files named ${twice}; a release holds all of them in one folder`);
  return files;
}
