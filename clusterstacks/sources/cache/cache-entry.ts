import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

import type { ClusterAddonConfig } from '../cluster-addon-config.ts';
import type { ReleaseMetadata } from '../release-metadata.ts';

/** The description of a cached release. It is written last, so a folder that has it is complete. */
export interface CacheEntry {
  readonly tag: string;
  readonly source: string;
  readonly metadata: ReleaseMetadata;
  readonly clusterClass: string;
  readonly addons?:
    | { readonly mode: 'stages'; readonly config: ClusterAddonConfig }
    | { readonly mode: 'single-chart'; readonly chart: string; readonly values?: string };
  /** Size of each file of the release, to detect files that are empty after a power failure. */
  readonly sizes: Readonly<Record<string, number>>;
}

/** File name of a cache entry. It names the version of the format, so that entries in another format are loaded again. */
export const entryFile = 'release.v1.json';

/** The entry of a cache folder; undefined when it is missing or the folder is incomplete. */
export async function readCacheEntry(folder: string): Promise<CacheEntry | undefined> {
  try {
    const entry = JSON.parse(await readFile(join(folder, entryFile), 'utf8')) as CacheEntry;
    const sizes = await Promise.all(
      Object.keys(entry.sizes).map(async (file) => (await stat(join(folder, 'files', file))).size),
    );
    const isWhole = Object.values(entry.sizes).every((size, index) => sizes[index] === size);
    if (entry.addons?.mode === 'stages') {
      const stages = Object.values(entry.addons.config.stages).flat();
      for (const { name } of stages) await stat(join(folder, 'addons', name));
    }
    return isWhole ? entry : undefined;
  } catch {
    return undefined;
  }
}
