import { watchFilterLabel } from '../../../api/cluster-api/names.ts';
import { clusterStackFieldManager } from '../../api/names.ts';
import { clusterStackRelease } from '../../api/cluster-stack-release.ts';
import type { ClusterStackRelease } from '../../api/cluster-stack-release.ts';
import { clusterStack } from '../../api/cluster-stack.ts';
import type { ClusterStack } from '../../api/cluster-stack.ts';
import { kinds } from '../../../api/core/kinds.ts';
import { apiVersionOf } from '../../../api/meta.ts';
import type { OwnerReference } from '../../../api/meta.ts';
import { messageOf } from '../../../runtime/reconcile/conditions.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { Outcome, Phase } from '../../../runtime/reconcile/phases.ts';
import { definePhases } from '../../../runtime/reconcile/run-phases.ts';
import { newestRelease } from '../../sources/newest-release.ts';
import { releasePrefix } from '../../sources/release-name.ts';
import { sourceOf } from '../../sources/stack-source.ts';
import { providerReleaseType } from './components/provider-release.ts';
import type { Dependencies } from './dependencies.ts';
import { planOf } from './plan.ts';
import { ProviderReleases } from './provider-releases.ts';
import { readAtOnce, RemoteVersions } from './remote-versions.ts';
import type { Scope } from './scope.ts';
import { liveUse } from '../../sources/live-use.ts';

/** The delay until a source that failed is read again, in milliseconds, if its interval is not shorter. */
const askAgainMs = 60_000;
/** Names of releases stand in labels. */
const longestName = 63;

/** The phases of a ClusterStack. */
export function phasesOf(deps: Dependencies): readonly Phase<Scope>[] {
  const remote = new RemoteVersions(deps.assets, deps.memory);
  const providers = new ProviderReleases(deps);
  return definePhases<Scope>([
    {
      name: 'source',
      condition: 'AssetsClientAPIAvailable',
      run: async ({ stack }, { signal }) => {
        const found = await sourceOf(stack, deps.source, (key) => deps.cluster.get(kinds.Secret, key, { signal }));
        if ('address' in found) return { is: 'done', learned: { address: found.address } };
        return { is: 'waiting', ...found, afterMs: askAgainMs };
      },
    },
    {
      name: 'remote',
      condition: 'ReleasesSynced',
      after: ['source'],
      run: (scope, ctx) => newest(remote, scope, ctx),
    },
    {
      name: 'plan',
      condition: 'ReleasesSynced',
      after: ['remote'],
      run: (scope) => Promise.resolve({ is: 'done', learned: { plan: planOf({ latest: 'unknown', ...scope }) } }),
    },
    {
      name: 'providers',
      condition: 'ProviderClusterStackReleasesSynced',
      needs: ['plan'],
      run: (scope, ctx) => providers.keep(scope, ctx),
    },
    {
      name: 'releases',
      condition: 'ClusterStackReleasesSynced',
      needs: ['plan'],
      run: (scope, ctx) => keepReleases(deps, scope, ctx),
    },
  ]);
}

/** After any failure here the newest version is unknown, and nothing is removed. */
async function newest(
  remote: RemoteVersions,
  { stack, address, owned }: Readonly<Scope>,
  ctx: Context,
): Promise<Outcome<Scope>> {
  const { autoSubscribe, channel, versions = [] } = stack.spec;
  if (!autoSubscribe) return { is: 'done', learned: { latest: 'none' } };
  if (address === undefined) {
    const message = 'the source is unknown (see AssetsClientAPIAvailable); no release is removed in the meantime';
    return { is: 'waiting', reason: 'FailedToSync', message };
  }
  let found: Awaited<ReturnType<RemoteVersions['of']>>;
  try {
    found = await remote.of(stack, address, ctx);
  } catch (error) {
    ctx.signal.throwIfAborted();
    const message = `cannot list the releases of the source: ${messageOf(error)}; no release is removed in the meantime`;
    ctx.event('Warning', 'FailedToSync', message);
    return { is: 'waiting', reason: 'FailedToSync', message, afterMs: askAgainMs };
  }
  const { releases, leftOut, afterMs } = found;
  const left = leftOut === 0 ? {} : { message: leftOutText(leftOut, releases.length + leftOut) };
  const latest = newestRelease(releases, stack.spec, channel);
  if (latest !== undefined || versions.length > 0 || owned.length > 0) {
    return { is: 'done', learned: { latest: latest ?? 'none', isPartial: leftOut > 0 }, ...left, afterMs };
  }
  const message = `the source has no release ${releasePrefix(stack.spec)}-v… of channel ${channel} among its ${releases.length} releases: push one, or correct provider, name, kubernetesVersion or channel`;
  return { is: 'waiting', reason: 'NoReleaseFound', message, afterMs };
}

const leftOutText = (left: number, all: number): string =>
  `the creation times of ${left} of ${all} releases of channel custom are not known yet, and a newer one may be among them; at most ${readAtOnce} are looked up at a time: remove old tags, or list versions in spec.versions`;

async function keepReleases(deps: Dependencies, scope: Readonly<Scope>, ctx: Context): Promise<Outcome<Scope>> {
  const { stack, plan, owned } = scope;
  if (plan === undefined) throw new Error('the releases have not been planned');
  const there = new Map(owned.map((release) => [release.metadata.name, release]));
  const tooLong: string[] = [];
  for (const name of plan.wanted.keys()) {
    if (there.has(name)) continue;
    if (name.length > longestName) tooLong.push(name);
    else there.set(name, await makeRelease(deps, stack, name, ctx));
  }
  for (const [name, release] of there) {
    if (!plan.superfluous.includes(release)) there.set(name, await followLabel(deps, stack, release, ctx));
  }
  for (const release of await removable(deps, plan.superfluous, ctx)) {
    await releaseOld(deps, stack, release, ctx);
    there.delete(release.metadata.name);
  }
  const learned = { releases: [...there.values()] };
  if (tooLong.length === 0) return { is: 'done', learned };
  const message = `${tooLong.join(', ')}: names of releases may have at most ${longestName} characters; shorten provider, name or version`;
  // A phase that waits learns nothing; the releases that are there are read again for the status.
  return { is: 'waiting', reason: 'FailedToCreateOrUpdate', message };
}

/** The cache may be behind: Clusters are read from the API server before something is deleted that cannot be recreated the same. */
async function removable(
  deps: Dependencies,
  superfluous: readonly ClusterStackRelease[],
  { signal }: Context,
): Promise<readonly ClusterStackRelease[]> {
  if (superfluous.length === 0) return [];
  const use = await liveUse(deps.cluster, signal);
  return superfluous.filter(({ metadata: { namespace, name } }) => !use.has(`${namespace}/${name}`));
}

const ownerOf = ({ apiVersion, kind, metadata }: ClusterStack): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid,
});

async function makeRelease(
  { cluster }: Dependencies,
  stack: ClusterStack,
  name: string,
  ctx: Context,
): Promise<ClusterStackRelease> {
  const { signal } = ctx;
  const { namespace } = stack.metadata;
  const before = await cluster.get(clusterStackRelease, { namespace, name }, { signal });
  if (before !== undefined) {
    // Another stack, of another channel, has it already: both own it.
    const { ownerReferences = [], resourceVersion } = before.metadata;
    const metadata = { ownerReferences: [...ownerReferences, ownerOf(stack)], resourceVersion };
    return cluster.patch(clusterStackRelease, { namespace, name }, { type: 'merge', body: { metadata } }, { signal });
  }
  const type = providerReleaseType(stack.spec.providerRef?.apiVersion, stack.spec.providerRef?.kind);
  const spec = stack.spec.noProvider || type === undefined ? {} : { providerRef: { ...type, name, namespace } };
  // The manager of the stack is also the manager of its releases.
  const watched = stack.metadata.labels?.[watchFilterLabel];
  const made = await cluster.create<ClusterStackRelease>(
    clusterStackRelease,
    {
      apiVersion: apiVersionOf(clusterStackRelease),
      kind: clusterStackRelease.kind,
      metadata: {
        name,
        namespace,
        ownerReferences: [ownerOf(stack)],
        ...(watched !== undefined && { labels: { [watchFilterLabel]: watched } }),
      },
      spec,
    },
    { fieldManager: clusterStackFieldManager, signal },
  );
  ctx.event('Normal', 'ReleaseCreated', `created ClusterStackRelease ${name}`);
  return made;
}

/** The manager that reconciles the stack also reconciles its releases; those of several stacks belong to the manager of the first one. */
async function followLabel(
  { cluster }: Dependencies,
  stack: ClusterStack,
  release: ClusterStackRelease,
  { signal }: Context,
): Promise<ClusterStackRelease> {
  const wanted = stack.metadata.labels?.[watchFilterLabel];
  const { namespace, name, labels, resourceVersion, ownerReferences = [] } = release.metadata;
  const first = ownerReferences.find(({ kind }) => kind === clusterStack.kind);
  if (labels?.[watchFilterLabel] === wanted || first?.uid !== stack.metadata.uid) return release;
  const body = { metadata: { labels: { [watchFilterLabel]: wanted ?? null }, resourceVersion } };
  return cluster.patch(clusterStackRelease, { namespace, name }, { type: 'merge', body }, { signal });
}

/** Deletes a release, or leaves it to the other stacks that own it. */
async function releaseOld(
  { cluster }: Dependencies,
  stack: ClusterStack,
  release: ClusterStackRelease,
  ctx: Context,
): Promise<void> {
  const { signal } = ctx;
  const { namespace, name, uid, resourceVersion, ownerReferences = [] } = release.metadata;
  const others = ownerReferences.filter((reference) => reference.uid !== stack.metadata.uid);
  if (others.some(({ kind }) => kind === clusterStack.kind)) {
    const body = { metadata: { ownerReferences: others, resourceVersion } };
    await cluster.patch(clusterStackRelease, { namespace, name }, { type: 'merge', body }, { signal });
    return;
  }
  if (release.metadata.deletionTimestamp !== undefined) return;
  try {
    await cluster.delete(clusterStackRelease, { namespace, name }, { uid, signal });
    ctx.event('Normal', 'ReleaseRemoved', `removed ClusterStackRelease ${name}: it is neither wanted nor in use`);
  } catch (error) {
    // A Cluster has begun to use it in this very moment: the webhook saw it first.
    if (!(error instanceof ApiError) || error.code !== 403) throw error;
    ctx.event('Normal', 'ReleaseKept', `ClusterStackRelease ${name} was not removed: ${error.message}`);
  }
}
