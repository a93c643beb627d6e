import type { RemoteRelease, ResolvedRelease } from './asset-source.ts';
import type { ReleaseAssets } from './release-assets.ts';

/** Where the releases of one stack are, as its spec or the manager's environment says; credentials are read from their Secrets already. */
export type SourceAddress =
  | {
      readonly type: 'oci';
      /** `host[:port]/path`. */
      readonly repository: string;
      readonly plainHttp?: boolean;
      readonly certificateAuthority?: string;
      readonly credentials?: { readonly username: string; readonly password: string } | { readonly token: string };
    }
  | {
      readonly type: 'github';
      /** `owner/name`. */
      readonly repository: string;
      /** `https://api.github.com` where absent. */
      readonly apiServer?: string;
      readonly token?: string;
    }
  | { readonly type: 'directory'; readonly path: string };

/** Releases of sources, each fetched once and kept by digest. */
export interface AssetStore {
  list(source: SourceAddress, signal: AbortSignal): Promise<readonly RemoteRelease[]>;
  /**
   * What the name of a release resolves to now, without loading it. A digest other than the pinned one means that the tag was moved.
   * Both spellings of the name are tried; `tag` is the one that was found. Throws `ReleaseNotFoundError`.
   */
  current(
    source: SourceAddress,
    name: string,
    signal: AbortSignal,
  ): Promise<ResolvedRelease & { readonly tag: string }>;
  /**
   * The assets of a release. With a digest, exactly this content, from the cache if possible, even if the tag refers to
   * something else by now; without one, what the tag refers to now. Both spellings of the name are tried, with a dash and
   * with a dot.
   */
  assets(
    source: SourceAddress,
    release: { readonly name: string; readonly digest?: string },
    signal: AbortSignal,
  ): Promise<ReleaseAssets>;
}
