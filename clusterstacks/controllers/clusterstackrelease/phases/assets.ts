import { messageOf } from '../../../../runtime/reconcile/conditions.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Outcome, Phase } from '../../../../runtime/reconcile/phases.ts';
import type { ReleaseAssets } from '../../../sources/release-assets.ts';
import { readVersion, withDash } from '../../../sources/release-version.ts';
import type { Dependencies } from '../dependencies.ts';
import type { MovedTags } from '../moved-tags.ts';
import type { Scope } from '../scope.ts';

const lookAgainMs = 60_000;
/** Bytes that are no release stay so; only another source, or another release of that name before it was pinned, helps. */
const brokenAgainMs = 600_000;

/** Fetches the files of the release: those of its digest once that is known, and never any others. */
export const assetsPhase = ({ assets: store }: Dependencies, moved: MovedTags): Phase<Scope> => ({
  name: 'assets',
  condition: 'ClusterStackReleaseDownloaded',
  needs: ['source'],
  async run(scope, ctx): Promise<Outcome<Scope>> {
    const { release, name, address } = scope;
    if (address === undefined) throw new Error('the source has not been found');
    const { digest } = release.status ?? {};
    let assets: ReleaseAssets;
    try {
      assets = await store.assets(address, { name, digest }, ctx.signal);
    } catch (error) {
      return troubleOf(error, ctx);
    }
    const wrong = mismatch(assets, scope);
    if (wrong === undefined)
      return { is: 'done', learned: { assets }, message: await messageAbout(assets, { scope, moved }, ctx) };
    return { is: 'waiting', reason: 'IssueWithReleaseAssets', message: wrong, afterMs: brokenAgainMs };
  },
});

/** A tag that moved changes nothing here, but is reported. */
async function messageAbout(
  { source, tag, digest }: ReleaseAssets,
  { scope: { release, name, address }, moved }: { readonly scope: Readonly<Scope>; readonly moved: MovedTags },
  ctx: Context,
): Promise<string> {
  const from = `${tag} of ${source}`;
  if (address === undefined || release.status?.digest === undefined) return from;
  const other = await moved.of({ uid: release.metadata.uid, name, digest, address }, ctx);
  if (other === undefined) return from;
  const text = `${from} now points to ${other}; the release remains at ${digest}: push changes under a new version`;
  ctx.event('Warning', 'TagMoved', text);
  return text;
}

/** By name, for errors of a store are values of its own. */
function troubleOf(error: unknown, { signal }: Context): Outcome<Scope> {
  signal.throwIfAborted();
  const name = error instanceof Error ? error.name : '';
  const message = messageOf(error);
  if (name === 'BadReleaseError') {
    return { is: 'waiting', reason: 'IssueWithReleaseAssets', message, afterMs: brokenAgainMs };
  }
  if (name === 'ReleaseNotFoundError' || name === 'SourceUnavailableError') {
    return { is: 'waiting', reason: 'ReleaseAssetsNotDownloadedYet', message, afterMs: lookAgainMs };
  }
  throw error;
}

/** What the files say must be what their name promises; undefined when it is. */
function mismatch({ metadata, digest }: ReleaseAssets, { release, name, parts }: Readonly<Scope>): string | undefined {
  if (parts === undefined) {
    return `${name} is not the name of a release, which is <provider>-<stack>-<major>-<minor>-<version>: delete it`;
  }
  const pinned = release.status?.digest;
  if (pinned !== undefined && pinned !== digest) {
    return `the files have digest ${digest}, but the release is pinned to ${pinned}: the source or the cache is wrong`;
  }
  const version = readVersion(metadata.clusterStack);
  if (version === undefined || withDash(version) !== withDash(parts.version)) {
    return `metadata.yaml says versions.clusterStack is ${metadata.clusterStack}, but the release is ${withDash(parts.version)}: push it under the name of its version`;
  }
  if (metadata.kubernetes.startsWith(`v${parts.kubernetesVersion}.`)) return undefined;
  return `metadata.yaml says versions.kubernetes is ${metadata.kubernetes}, but the release is for ${parts.kubernetesVersion}: push it under the name of its Kubernetes version`;
}
