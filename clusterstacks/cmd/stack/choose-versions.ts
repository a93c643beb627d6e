import { hashesOf } from './build-release.ts';
import type { KnownRelease } from './known-release.ts';
import type { SourceTree } from './source-tree.ts';
import { StackError } from './stack-error.ts';
import { dottedVersion, nextVersion, stableNumber } from './stack-version.ts';
import type { ReleaseVersions } from './stamp.ts';

/**
 * The newest release of channel stable among tags, for one stack and minor. Tags of other stacks and channels, and tags that are no
 * releases, are ignored.
 */
export function newestStable(prefix: string, tags: readonly string[]): string | undefined {
  const numbered = tags.flatMap((tag) => {
    const number = tag.startsWith(`${prefix}-`) ? stableNumber(tag.slice(prefix.length + 1)) : undefined;
    return number === undefined ? [] : [{ tag, number }];
  });
  return numbered.sort((a, b) => b.number - a.number)[0]?.tag;
}

/** Mode hash: one version for everything, from the content of the tree. */
export function hashVersions(source: SourceTree): ReleaseVersions {
  const version = `v0-sha.${hashesOf(source).clusterStack.slice(0, 7)}`;
  return { clusterStack: version, clusterAddon: version, nodeImage: version };
}

/** Mode custom: what is given; add-ons and node images have that of the stack by default. */
export function customVersions(given: {
  readonly clusterStack: string;
  readonly clusterAddon: string;
  readonly nodeImage: string;
}): ReleaseVersions {
  const read = (flag: string, text: string): string => {
    const version = dottedVersion(text);
    if (version === undefined) throw new StackError(`--${flag} is "${text}"; use a version such as v1 or v0-alpha.3`);
    return version;
  };
  const clusterStack = read('cluster-stack-version', given.clusterStack);
  return {
    clusterStack,
    clusterAddon: given.clusterAddon === '' ? clusterStack : read('cluster-addon-version', given.clusterAddon),
    nodeImage: given.nodeImage === '' ? clusterStack : read('node-image-version', given.nodeImage),
  };
}

/**
 * Mode stable: the stack's version is the next one whenever anything changed, the add-ons' and the node images' when they did. Without a
 * release before, all begin with v1.
 * @throws StackError when nothing changed.
 */
export function stableVersions(source: SourceTree, latest: KnownRelease | undefined): ReleaseVersions {
  if (latest === undefined) return { clusterStack: 'v1', clusterAddon: 'v1', nodeImage: 'v1' };
  const { metadata, hashes: before } = latest;
  const now = hashesOf(source);
  if (before?.clusterStack === now.clusterStack) {
    throw new StackError(`nothing changed since ${latest.name}: there is nothing to release`);
  }
  const config = source.files.get('clusteraddon.yaml');
  const isSameAddon =
    before?.clusterAddonDir === now.clusterAddonDir &&
    before.clusterAddonValues === now.clusterAddonValues &&
    // csctl has no hash of it, and releases have the file itself.
    isSame(config, latest.files.get('clusteraddon.yaml'));
  const nodeImage = metadata.nodeImage ?? 'v1';
  return {
    clusterStack: nextVersion(metadata.clusterStack),
    clusterAddon: isSameAddon ? metadata.clusterAddon : nextVersion(metadata.clusterAddon),
    nodeImage: before?.nodeImageDir === now.nodeImageDir ? nodeImage : nextVersion(nodeImage),
  };
}

const isSame = (a: Buffer | undefined, b: Buffer | undefined): boolean =>
  a === undefined || b === undefined ? a === b : a.equals(b);
