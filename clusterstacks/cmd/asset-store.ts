import type { Clock } from '../../runtime/clock.ts';
import type { AssetSource } from '../sources/asset-source.ts';
import type { SourceAddress } from '../sources/asset-store.ts';
import { CachedAssetStore } from '../sources/cache/cached-asset-store.ts';
import { DirectorySource } from '../sources/directory/directory-source.ts';
import { GithubSource } from '../sources/github/github-source.ts';
import { OciSource } from '../sources/oci/oci-source.ts';

/**
 * The store of releases of cluster stacks, with every source that there is. Its folder may be lost at any time. No source leads to what is
 * `closed` (`host:port`).
 */
export function assetStore(folder: string, clock: Clock, closed: readonly string[] = []): CachedAssetStore {
  return new CachedAssetStore({ folder, clock, open: (source) => openSource(source, closed) });
}

function openSource(source: SourceAddress, closed: readonly string[]): AssetSource {
  switch (source.type) {
    case 'oci':
      return new OciSource({ ...source, closed });
    case 'github':
      return new GithubSource({ ...source, closed });
    case 'directory':
      return new DirectorySource(source);
  }
}
