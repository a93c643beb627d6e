/** Upper bounds for a release in bytes, files and time: its author is not trusted. */
export interface AssetLimits {
  /** Longest list of releases, in pages and in releases. */
  readonly maxPages: number;
  readonly maxReleases: number;
  /** A manifest, a page of a list, a token. */
  readonly maxDocumentBytes: number;
  /** Files of one release, the largest of them, and all together. */
  readonly maxFiles: number;
  readonly maxFileBytes: number;
  readonly maxReleaseBytes: number;
  /** For the content of archives: entries, bytes, and unpacked bytes per packed byte. */
  readonly maxEntries: number;
  readonly maxUnpackedBytes: number;
  readonly maxRatio: number;
  /** For one request of a document, for a pause within a download, and for a whole release. */
  readonly documentTimeoutMs: number;
  readonly silenceMs: number;
  readonly releaseTimeoutMs: number;
}

const mebibyte = 1024 * 1024;

/** Far above the known stacks (the largest has 3 MiB in 6 files), far below the resources of a manager. */
export const defaultAssetLimits: AssetLimits = {
  maxPages: 500,
  maxReleases: 50_000,
  maxDocumentBytes: 8 * mebibyte,
  maxFiles: 64,
  maxFileBytes: 64 * mebibyte,
  maxReleaseBytes: 128 * mebibyte,
  maxEntries: 20_000,
  maxUnpackedBytes: 256 * mebibyte,
  maxRatio: 200,
  documentTimeoutMs: 30_000,
  silenceMs: 30_000,
  releaseTimeoutMs: 300_000,
};
