import type { RemoteRelease } from './asset-source.ts';
import type { StackIdentity } from './release-name.ts';
import { versionIn } from './release-name.ts';
import type { ReleaseVersion } from './release-version.ts';
import { compareVersions } from './release-version.ts';

/** `stable`: versions without suffix. `custom`: all others, with any suffix. */
export type Channel = 'stable' | 'custom';

export const isOfChannel = ({ suffix }: ReleaseVersion, channel: Channel): boolean =>
  (suffix === undefined) === (channel === 'stable');

/**
 * The newest version of a stack and channel among the tags of a source; undefined when there is none. Tags of other stacks, and
 * tags that are not versions, are ignored. In the custom channel, suffixes such as hashes have no order, so the creation time
 * decides if the source reports it; a release with a known time wins over one without.
 */
export function newestRelease(
  releases: readonly RemoteRelease[],
  stack: StackIdentity,
  channel: Channel,
): ReleaseVersion | undefined {
  const found = releases.flatMap(({ tag, createdAt }) => {
    const version = versionIn(stack, tag);
    if (version === undefined || !isOfChannel(version, channel)) return [];
    const made = Date.parse(createdAt ?? '');
    return [{ version, made: channel === 'custom' && !Number.isNaN(made) ? made : 0 }];
  });
  return found.sort((a, b) => a.made - b.made || compareVersions(a.version, b.version)).at(-1)?.version;
}
