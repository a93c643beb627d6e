import { BadReleaseError } from '../asset-errors.ts';
import type { ReleaseName } from './release-name.ts';

/** Which files of a release are its parts. */
export interface ReleaseFiles {
  readonly metadata: string;
  readonly clusterClass: string;
  readonly addonArchive?: string;
  /** `clusteraddon.yaml`: with it the archive holds stages, without it is one chart. */
  readonly addonConfig?: string;
  readonly addonValues?: string;
}

/**
 * Finds the parts of a release by their file names. For an archive, the exact name is preferred, then one with its prefix, then one
 * with the word in it.
 * @throws BadReleaseError when a part is missing or ambiguous.
 */
export function releaseFiles(names: readonly string[], release: ReleaseName, addonVersion: string): ReleaseFiles {
  const has = (name: string): boolean => names.includes(name);
  const addonArchive = archive(names, { release, word: 'cluster-addon', version: addonVersion });
  const clusterClass = archive(names, { release, word: 'cluster-class', version: release.version });
  if (clusterClass === undefined) {
    throw new BadReleaseError(
      `the release contains no ${release.stack}-cluster-class-${release.version}.tgz (the chart of its ClusterClass), only ${names.join(', ')}`,
    );
  }
  if (addonArchive === undefined && has('clusteraddon.yaml')) {
    throw new BadReleaseError(
      `the release contains a clusteraddon.yaml, but no ${release.stack}-cluster-addon-${addonVersion}.tgz with the stages it names`,
    );
  }
  return {
    metadata: 'metadata.yaml',
    clusterClass,
    addonArchive,
    ...(has('clusteraddon.yaml') && { addonConfig: 'clusteraddon.yaml' }),
    ...(has('cluster-addon-values.yaml') && { addonValues: 'cluster-addon-values.yaml' }),
  };
}

function archive(
  names: readonly string[],
  { release, word, version }: { readonly release: ReleaseName; readonly word: string; readonly version: string },
): string | undefined {
  const exact = `${release.stack}-${word}-${version}.tgz`;
  if (names.includes(exact)) return exact;
  const archives = names.filter((name) => name.endsWith('.tgz') && name.includes(word));
  const ours = archives.filter((name) => name.startsWith(`${release.stack}-${word}`));
  const candidates = ours.length > 0 ? ours : archives;
  if (candidates.length < 2) return candidates[0];
  throw new BadReleaseError(
    `the release contains ${candidates.join(' and ')}, but no ${exact}: rename the one that is meant`,
  );
}
