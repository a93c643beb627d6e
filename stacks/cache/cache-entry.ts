import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

import type { ClusterAddonConfig } from '../cluster-addon-config.ts';
import type { ReleaseMetadata } from '../release-metadata.ts';

/** What is known of a release in the cache: written last, so that what has it is whole. */
export interface CacheEntry {
  readonly tag: string;
  readonly source: string;
  readonly metadata: ReleaseMetadata;
  readonly clusterClass: string;
  readonly addons?:
    | { readonly mode: 'stages'; readonly config: ClusterAddonConfig }
    | { readonly mode: 'single-chart'; readonly chart: string; readonly values?: string };
  /** Bytes of each file of the release: after a power cut files may be there and empty. */
  readonly sizes: Readonly<Record<string, number>>;
}

/** The name of the file that a cache entry is kept in; its form is part of the name, so that another one is loaded anew. */
export const entryFile = 'release.v1.json';

/** The entry of a folder of the cache; undefined when there is none, or not all of it. */
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
