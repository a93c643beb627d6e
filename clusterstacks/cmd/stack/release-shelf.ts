import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AssetSource } from '../../sources/asset-source.ts';
import { readRelease } from './known-release.ts';
import type { KnownRelease } from './known-release.ts';
import { readFolder } from './source-tree.ts';

/** Where earlier releases are: a folder with a folder for each, or a repository with a tag for each. */
export interface ReleaseShelf {
  readonly address: string;
  /** The names of all releases, and of anything else in the place. */
  names(signal: AbortSignal): Promise<readonly string[]>;
  read(name: string, signal: AbortSignal): Promise<KnownRelease>;
}

/** Releases in a folder, as `steward stack build` writes them. A folder that does not exist yet contains none. */
export function folderShelf(folder: string): ReleaseShelf {
  return {
    address: folder,
    names: async () => {
      try {
        const entries = await readdir(folder, { withFileTypes: true });
        return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
        throw error;
      }
    },
    read: async (name) => readRelease(await readFolder(join(folder, name)), join(folder, name)),
  };
}

/** Releases that a source offers. `scratch` is a folder for temporary files. */
export function sourceShelf(source: AssetSource, scratch: string): ReleaseShelf {
  return {
    address: source.address,
    names: async (signal) => (await source.list(signal)).map(({ tag }) => tag),
    read: async (tag, signal) => {
      const folder = await mkdtemp(join(scratch, 'release-'));
      try {
        const { digest } = await source.resolve(tag, signal);
        await source.load({ tag, digest }, folder, signal);
        return readRelease(await readFolder(folder), `${source.address}:${tag}`);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}
