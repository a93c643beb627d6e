import { classOf } from '../../../api/cluster-api/class-of.ts';
import { capiCluster, capiClusterClass } from '../../../api/cluster-api/kinds.ts';
import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import { pausedAnnotation, watchFilterLabel } from '../../../api/cluster-api/names.ts';
import type { AppliedResource } from '../../api/applied-resource.ts';
import { clusterStackRelease } from '../../api/cluster-stack-release.ts';
import type { ClusterStackRelease } from '../../api/cluster-stack-release.ts';
import { clusterStack } from '../../api/cluster-stack.ts';
import { clusterStackFinalizers, clusterStackLabels } from '../../api/names.ts';
import type { Key, Resource } from '../../../api/meta.ts';
import { messageOf } from '../../../runtime/reconcile/conditions.ts';
import type {
  Context,
  Controller,
  LastReconcile,
  ReconcileResult,
  Watch,
} from '../../../runtime/reconcile/controller.ts';
import { resultOf } from '../../../runtime/reconcile/result-of.ts';
import { runPhases } from '../../../runtime/reconcile/run-phases.ts';
import { liveUse } from '../../sources/live-use.ts';
import { readReleaseName } from '../../sources/release-name.ts';
import { releaseOf } from '../../sources/releases-in-use.ts';
import { access } from './access.ts';
import type { Dependencies } from './dependencies.ts';
import { ObjectWatches } from './object-watches.ts';
import { clusterStackReleasePhases } from './recipe.ts';
import { removeObjects } from './remove-objects.ts';
import { goingStatus, statusOf } from './status.ts';

/** The requeue delay of a release that Clusters use, or whose objects are being deleted. */
const heldAgainMs = 60_000;
const goingAgainMs = 5_000;
/** Releases are fetched within a reconcile. */
const timeoutMs = 300_000;

/** Creates the ClusterClass and templates of each ClusterStackRelease, reverts drift, and deletes them with it. */
export function clusterStackReleaseController(deps: Dependencies): Controller<ClusterStackRelease> {
  const watches = new ObjectWatches(deps.informers, deps.enqueue);
  const unpinned = deps.memory.slot<true>('releases without a digest');
  const phases = clusterStackReleasePhases(deps, { watches, unpinned });
  return {
    name: 'clusterstackrelease',
    kind: clusterStackRelease,
    access,
    finalizers: [clusterStackFinalizers.release],
    watches: watchesOf(deps),
    concurrency: 2,
    timeoutMs,
    serves: ({ metadata }) => deps.watchFilter === '' || metadata.labels?.[watchFilterLabel] === deps.watchFilter,
    paused: ({ metadata }) =>
      metadata.annotations?.[pausedAnnotation] === undefined ? undefined : `the annotation ${pausedAnnotation} is set`,
    async reconcile(release, ctx): Promise<ReconcileResult<ClusterStackRelease>> {
      const { name, namespace } = release.metadata;
      let resources: readonly AppliedResource[] | undefined;
      const note = (seen: readonly AppliedResource[]): void => {
        resources = seen;
      };
      const report = await runPhases(phases, { release, name, namespace, parts: readReleaseName(name), note }, ctx);
      const status = statusOf(release, { report, resources }, ctx.now);
      return {
        status,
        ...resultOf(report),
        // With a CustomResourceDefinition that is older than the manager, the release would be pinned again and again without a pause.
        stored: ({ metadata: { uid }, status: kept }) => {
          if (status.digest === undefined || kept?.digest !== undefined) unpinned.delete(uid);
          else unpinned.set(uid, true);
        },
      };
    },
    finalize: (release, ctx): Promise<LastReconcile<ClusterStackRelease>> => finalize(deps, release, ctx),
  };
}

async function finalize(
  deps: Dependencies,
  release: ClusterStackRelease,
  ctx: Context,
): Promise<LastReconcile<ClusterStackRelease>> {
  const { signal, now } = ctx;
  const { namespace, name } = release.metadata;
  const users = (await liveUse(deps.cluster, signal)).get(`${namespace}/${name}`) ?? [];
  if (users.length > 0) {
    const message = `the release is used by ${users.join(', ')}: move these Clusters to another class, or delete them`;
    return { finished: false, status: goingStatus(release, { reason: 'InUse', message }, now), afterMs: heldAgainMs };
  }
  try {
    const left = await removeObjects(deps, release, signal);
    if (left.length === 0) return { finished: true };
    const message = `waiting for the deletion of ${left.join(', ')}`;
    return {
      finished: false,
      status: goingStatus(release, { reason: 'Deleting', message }, now),
      afterMs: goingAgainMs,
    };
  } catch (error) {
    signal.throwIfAborted();
    const message = `the objects of the release cannot be removed: ${messageOf(error)}`;
    ctx.event('Warning', 'FailedToDeleteObjects', message);
    return { finished: false, status: goingStatus(release, { reason: 'Deleting', message }, now), error };
  }
}

function watchesOf(deps: Dependencies): readonly Watch[] {
  const ofCluster: Watch<CapiCluster> = {
    kind: capiCluster,
    optional: true,
    keys: (old, now) => {
      const [before, after] = [old, now].map((one) => (one === undefined ? undefined : classOf(one)));
      if (before === undefined || (before.namespace === after?.namespace && before.name === after?.name)) return [];
      // Only a release that is no longer used may have waited for this.
      const found = deps
        .classes()
        .find(({ metadata }) => metadata.name === before.name && metadata.namespace === before.namespace);
      const key = releaseOf(before, found);
      return key === undefined ? [] : [key];
    },
  };
  return [
    { kind: clusterStack, keys: (old, now) => ownedBy(deps, now ?? old) },
    ofCluster,
    {
      kind: capiClusterClass,
      labelSelector: clusterStackLabels.release,
      metadataOnly: true,
      optional: true,
      keys: (old, now) => namedBy(now ?? old),
    },
  ];
}

/** Another source, or other credentials, may help the releases of a stack. */
function ownedBy({ releases }: Dependencies, stack: Resource | undefined): readonly Key[] {
  const { namespace = '', uid } = stack?.metadata ?? {};
  return releases(namespace)
    .filter(({ metadata }) => metadata.ownerReferences?.some((reference) => reference.uid === uid))
    .map(({ metadata: { name } }) => ({ namespace, name }));
}

function namedBy(object: Resource | undefined): readonly Key[] {
  const name = object?.metadata.labels?.[clusterStackLabels.release];
  return name === undefined ? [] : [{ namespace: object?.metadata.namespace ?? '', name }];
}
