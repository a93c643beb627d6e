/** A release as a source lists it. */
export interface RemoteRelease {
  /** As the source spells it: an OCI tag, the tag of a GitHub release, or the name of a folder. */
  readonly tag: string;
  /** When it was created (RFC 3339), if the source reports that without loading it. */
  readonly createdAt?: string;
}

/** What a tag names now. */
export interface ResolvedRelease {
  /** `sha256:<hex>`. */
  readonly digest: string;
  /** When it was created (RFC 3339), if the release itself says so. */
  readonly createdAt?: string;
}

/** Where releases of cluster stacks come from: an OCI repository, the releases of a GitHub repository, or a folder. */
export interface AssetSource {
  /** How status and messages name the source. Contains no credentials. */
  readonly address: string;
  /** All releases, of all stacks; every page of them. */
  list(signal: AbortSignal): Promise<readonly RemoteRelease[]>;
  /** What the tag names now. Throws `ReleaseNotFoundError`. */
  resolve(tag: string, signal: AbortSignal): Promise<ResolvedRelease>;
  /** Writes the files of the release with this digest into `folder`, which exists and is empty. Every byte is checked against the digest. */
  load(release: { readonly tag: string; readonly digest: string }, folder: string, signal: AbortSignal): Promise<void>;
}
