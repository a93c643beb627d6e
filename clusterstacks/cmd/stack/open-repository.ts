import type { AssetSource } from '../../sources/asset-source.ts';
import { OciRepository } from '../../sources/oci/oci-repository.ts';
import { OciSource } from '../../sources/oci/oci-source.ts';
import type { PushTarget } from './push-release.ts';
import type { RepositoryAccess } from './run-stack.ts';

/** The two sides of a repository: where releases are read, and where they are pushed. Throws RangeError when its address is none. */
export function openRepository(access: RepositoryAccess): {
  readonly source: AssetSource;
  readonly target: PushTarget;
} {
  return { source: new OciSource(access), target: new OciRepository(access) };
}
