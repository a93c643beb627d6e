import { BadReleaseError } from '../asset-errors.ts';

/** A file of a release of GitHub. */
export interface GithubAsset {
  readonly id: number;
  readonly name: string;
  readonly size: number;
  /** `sha256:<hex>`; assets from before the middle of 2025 have none. */
  readonly digest?: string;
}

/** A release as GitHub reports it. */
export interface GithubRelease {
  readonly tag: string;
  readonly isDraft: boolean;
  readonly createdAt?: string;
  readonly assets: readonly GithubAsset[];
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** Parses a release of GitHub's REST API; undefined for anything else. */
export function githubRelease(value: unknown, source: string): GithubRelease | undefined {
  if (!isFields(value) || typeof value.tag_name !== 'string') return undefined;
  const { published_at: publishedAt, created_at: createdAt, assets } = value;
  const made = [publishedAt, createdAt].find((time) => typeof time === 'string');
  return {
    tag: value.tag_name,
    isDraft: value.draft === true,
    assets: Array.isArray(assets) ? assets.map((asset: unknown) => assetOf(asset, source)) : [],
    createdAt: made,
  };
}

function assetOf(asset: unknown, source: string): GithubAsset {
  const { id, name, size, digest } = isFields(asset) ? asset : {};
  if (!Number.isSafeInteger(id) || typeof name !== 'string' || !Number.isSafeInteger(size)) {
    throw new BadReleaseError(`${source} lists an asset without id, name or size; is it a GitHub API?`);
  }
  const isKnown = typeof digest === 'string' && /^sha256:[0-9a-f]{64}$/.test(digest);
  return { id: Number(id), name, size: Number(size), ...(isKnown && { digest }) };
}
