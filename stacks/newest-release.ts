import type { RemoteRelease } from './asset-source.ts';
import type { StackIdentity } from './release-name.ts';
import { versionIn } from './release-name.ts';
import type { ReleaseVersion } from './release-version.ts';
import { compareVersions } from './release-version.ts';

/** `stable`: versions without suffix. `custom`: all others, whatever word their suffix begins with. */
export type Channel = 'stable' | 'custom';

export const isOfChannel = ({ suffix }: ReleaseVersion, channel: Channel): boolean =>
  (suffix === undefined) === (channel === 'stable');

/**
 * The newest version of a stack and channel among the tags of a source; undefined when there is none. Tags of other stacks, and those that are no
 * versions, are passed over. In the custom channel suffixes such as hashes tell no order: when it was made decides, where the source
 * says so, and a release of which that is known wins over one of which it is not.
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
