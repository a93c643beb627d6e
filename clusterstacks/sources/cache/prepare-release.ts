import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { BadReleaseError } from '../asset-errors.ts';
import type { AssetLimits } from '../asset-limits.ts';
import type { ClusterAddonConfig } from '../cluster-addon-config.ts';
import { parseClusterAddonConfig } from '../cluster-addon-config.ts';
import { parseReleaseMetadata } from '../release-metadata.ts';
import type { CacheEntry } from './cache-entry.ts';
import { releaseFiles } from './release-files.ts';
import type { ReleaseName } from './release-name.ts';
import { unpackArchive } from './unpack-archive.ts';

/** Where the parts of a release are in its folder of the cache. */
export const places = { files: 'files', addons: 'addons' } as const;

/**
 * Validates and unpacks a release whose files are in `files/` of this folder.
 * @throws BadReleaseError for a release that can never be used, so that this is found once here rather than in every Cluster.
 */
export async function prepareRelease(
  folder: string,
  name: ReleaseName,
  { limits, signal }: { readonly limits: AssetLimits; readonly signal: AbortSignal },
): Promise<Omit<CacheEntry, 'tag' | 'source'>> {
  const inFiles = (file: string): string => join(folder, places.files, file);
  const names = await readdir(join(folder, places.files));
  if (!names.includes('metadata.yaml')) {
    throw new BadReleaseError(`the release contains no metadata.yaml, only ${names.join(', ')}`);
  }
  const metadata = parseReleaseMetadata(await readFile(inFiles('metadata.yaml'), 'utf8'));
  const found = releaseFiles(names, name, metadata.clusterAddon);
  await unpackArchive({ name: found.clusterClass, file: inFiles(found.clusterClass) }, limits, signal);
  const parts = {
    metadata,
    clusterClass: found.clusterClass,
    sizes: Object.fromEntries(
      await Promise.all(names.map(async (file) => [file, (await stat(inFiles(file))).size] as const)),
    ),
  };
  if (found.addonArchive === undefined) return parts;
  const archive = { name: found.addonArchive, file: inFiles(found.addonArchive) };
  if (found.addonConfig === undefined) {
    await unpackArchive(archive, limits, signal);
    return {
      ...parts,
      addons: { mode: 'single-chart', chart: found.addonArchive, values: found.addonValues },
    };
  }
  const config = parseClusterAddonConfig(await readFile(inFiles(found.addonConfig), 'utf8'));
  await mkdir(join(folder, places.addons));
  const top = await unpackArchive({ ...archive, folder: join(folder, places.addons) }, limits, signal);
  refuseMissingStages(config, top, found.addonArchive);
  return { ...parts, addons: { mode: 'stages', config } };
}

function refuseMissingStages(config: ClusterAddonConfig, top: readonly string[], archive: string): void {
  for (const [hook, stages] of Object.entries(config.stages)) {
    const missing = stages.find((stage) => !top.includes(stage.name));
    if (missing === undefined) continue;
    throw new BadReleaseError(
      `clusteraddon.yaml: stage ${missing.name} of ${hook} has no folder in ${archive}, which contains ${[...top].sort().join(', ')}`,
    );
  }
}
