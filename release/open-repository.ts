import { defaultAssetLimits } from '../clusterstacks/sources/asset-limits.ts';
import { OciRepository } from '../clusterstacks/sources/oci/oci-repository.ts';

/** How a registry is reached. */
export interface RegistryAccess {
  readonly credentials?: { readonly username: string; readonly password: string } | undefined;
  /** Without TLS: for a registry on one's own machine, never a default. */
  readonly plainHttp: boolean;
}

/** A repository that a release is pushed to. Throws RangeError unless it is HOST[:PORT]/PATH. */
export const openRepository = (repository: string, access: RegistryAccess): OciRepository =>
  new OciRepository({
    ...{ repository, ...access },
    // A layer of the image takes longer on a slow line than the documents for which the default is meant.
    limits: { ...defaultAssetLimits, documentTimeoutMs: defaultAssetLimits.releaseTimeoutMs },
    settings: { credentials: 'REGISTRY_USERNAME and REGISTRY_PASSWORD', plainHttp: '--plain-http' },
  });
