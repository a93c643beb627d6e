/** A version of a cluster stack: `vN`, or `vN-word.word`; in release names with a dash instead of the dot. */
export interface ReleaseVersion {
  readonly major: number;
  /** The words after the number, e.g. `sha` and `rwvgrna`; absent for a stable version. */
  readonly suffix?: readonly [channel: string, patch: string];
}

/** Parses both spellings; undefined for anything that is not a version. */
export function readVersion(text: string): ReleaseVersion | undefined {
  const [, major, channel, patch] = /^v(\d{1,9})(?:-([a-z0-9]+)[.-]([a-z0-9]+))?$/.exec(text) ?? [];
  if (major === undefined || `${Number(major)}` !== major) return undefined;
  if (channel === undefined || patch === undefined) return { major: Number(major) };
  return { major: Number(major), suffix: [channel, patch] };
}

/** As `metadata.yaml`, charts and ClusterClasses spell it: `v0-sha.rwvgrna`. */
export const withDot = ({ major, suffix }: ReleaseVersion): string =>
  `v${[major, suffix?.join('.') ?? []].flat().join('-')}`;

/** As names of releases and tags spell it: `v0-sha-rwvgrna`. */
export const withDash = ({ major, suffix }: ReleaseVersion): string => `v${[major, ...(suffix ?? [])].join('-')}`;

/** `stable`, or the word that begins the suffix. */
export const channelOf = ({ suffix }: ReleaseVersion): string => suffix?.[0] ?? 'stable';

/**
 * Negative when `a` is older. By number first; a version without suffix is newer than one with; then by the words of the suffix, as
 * numbers where both are digits.
 */
export function compareVersions(a: ReleaseVersion, b: ReleaseVersion): number {
  if (a.major !== b.major) return a.major - b.major;
  if (a.suffix === undefined || b.suffix === undefined) {
    return Number(a.suffix === undefined) - Number(b.suffix === undefined);
  }
  return compareWords(a.suffix[0], b.suffix[0]) || compareWords(a.suffix[1], b.suffix[1]);
}

function compareWords(a: string, b: string): number {
  if (/^\d+$/.test(a) && /^\d+$/.test(b)) {
    const [x, y] = [BigInt(a), BigInt(b)];
    if (x !== y) return x < y ? -1 : 1;
  }
  return a === b ? 0 : a < b ? -1 : 1;
}
