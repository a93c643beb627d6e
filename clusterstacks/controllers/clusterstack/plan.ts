import type { ClusterStack } from '../../api/cluster-stack.ts';
import type { ClusterStackRelease } from '../../api/cluster-stack-release.ts';
import { isOfChannel } from '../../sources/newest-release.ts';
import { releaseName, versionIn } from '../../sources/release-name.ts';
import type { ReleaseVersion } from '../../sources/release-version.ts';
import { compareVersions, readVersion } from '../../sources/release-version.ts';

/** What decides which releases a stack has. */
export interface PlanInput {
  readonly stack: ClusterStack;
  /** The newest version in the source; `none` also if it is not wanted, `unknown` if the source could not be read. */
  readonly latest: ReleaseVersion | 'unknown' | 'none';
  /** Whether a newer one may yet be found. */
  readonly isPartial?: boolean;
  /** Releases that this stack owns. */
  readonly owned: readonly ClusterStackRelease[];
  /** Names of the releases in this namespace that Clusters use. */
  readonly inUse: ReadonlySet<string>;
}

/** What is to be done about releases. */
export interface Plan {
  /** Name → version of the releases that have to be there. */
  readonly wanted: ReadonlyMap<string, ReleaseVersion>;
  /** Releases that are there and stay. */
  readonly kept: readonly ClusterStackRelease[];
  /** Releases that are neither wanted nor in use. */
  readonly superfluous: readonly ClusterStackRelease[];
}

/**
 * Decides which releases have to be there, and which can go. Those stay that the spec names, that a Cluster uses, the newest of the source, and the newest
 * that is ready: a new version that does not work must not take the last one that does. As long as the newest is not known, none goes.
 */
export function planOf({ stack, latest, isPartial = false, owned, inUse }: PlanInput): Plan {
  const { versions = [] } = stack.spec;
  const named = versions.flatMap((text) => readVersion(text) ?? []);
  const all = typeof latest === 'string' ? named : [...named, latest];
  const wanted = new Map(all.map((version) => [releaseName(stack.spec, version), version]));
  const ready = newestReady(stack, owned)?.metadata.name ?? '';
  const stays = ({ metadata: { name } }: ClusterStackRelease): boolean =>
    wanted.has(name) || inUse.has(name) || name === ready;
  const isKnown = typeof latest !== 'string' || (latest === 'none' && !stack.spec.autoSubscribe);
  const superfluous = isKnown && !isPartial ? owned.filter((release) => !stays(release)) : [];
  return { wanted, superfluous, kept: owned.filter((release) => !superfluous.includes(release)) };
}

/** The newest release that Clusters can be made of: of the stack's channel where there is one. */
export function newestReady(
  stack: ClusterStack,
  releases: readonly ClusterStackRelease[],
): ClusterStackRelease | undefined {
  const { channel } = stack.spec;
  const found = releases.flatMap((release) => {
    const version = versionIn(stack.spec, release.metadata.name);
    const isUsable = release.status?.ready === true && release.metadata.deletionTimestamp === undefined;
    if (version === undefined || !isUsable) return [];
    // Suffixes such as hashes have no order; the order of the list decides.
    const made = channel === 'custom' ? Date.parse(release.metadata.creationTimestamp ?? '') || 0 : 0;
    return [{ release, version, made, fits: isOfChannel(version, channel) }];
  });
  return found
    .sort((a, b) => Number(a.fits) - Number(b.fits) || a.made - b.made || compareVersions(a.version, b.version))
    .at(-1)?.release;
}
