import type { Clock } from '../runtime/clock.ts';
import type { AssetSource } from '../stacks/asset-source.ts';
import type { SourceAddress } from '../stacks/asset-store.ts';
import { CachedAssetStore } from '../stacks/cache/cached-asset-store.ts';
import { DirectorySource } from '../stacks/directory/directory-source.ts';
import { GithubSource } from '../stacks/github/github-source.ts';
import { OciSource } from '../stacks/oci/oci-source.ts';

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
