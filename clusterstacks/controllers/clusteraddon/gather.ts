import { classOf } from '../../../api/cluster-api/class-of.ts';
import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import { capiCluster, capiClusterClass } from '../../../api/cluster-api/kinds.ts';
import { pausedAnnotation } from '../../../api/cluster-api/names.ts';
import type { ClusterAddon } from '../../api/cluster-addon.ts';
import type { ClusterStackRelease } from '../../api/cluster-stack-release.ts';
import { clusterStackRelease } from '../../api/cluster-stack-release.ts';
import { clusterStackLabels } from '../../api/names.ts';
import { messageOf } from '../../../runtime/reconcile/conditions.ts';
import type { ReleaseAssets } from '../../sources/release-assets.ts';
import type { ClusterAddonConfig } from '../../sources/cluster-addon-config.ts';
import type { Dependencies } from './dependencies.ts';
import { conditionFault } from './stages/stage-condition.ts';
import { StageError, lookAgain } from './stage-error.ts';
import { configOf } from './stages/stage-files.ts';

/** A Cluster with the release of its class. */
export interface Gathered {
  readonly cluster: CapiCluster;
  readonly className: string;
  /** Of the class and of its release. */
  readonly classNamespace: string;
  readonly release: ClusterStackRelease;
  readonly assets: ReleaseAssets;
  readonly config: ClusterAddonConfig;
}

/**
 * The Cluster of a ClusterAddon, or why nothing is done for it.
 * @throws StageError
 */
export async function ownCluster(deps: Dependencies, addon: ClusterAddon, signal: AbortSignal): Promise<CapiCluster> {
  const { namespace } = addon.metadata;
  const { name = '' } = addon.spec.clusterRef;
  const cluster = name === '' ? undefined : await deps.cluster.get(capiCluster, { namespace, name }, { signal });
  if (cluster === undefined) {
    const message = `there is no Cluster ${name} in namespace ${namespace}`;
    throw new StageError({ type: 'ClusterReady', reason: 'ClusterNotFound', message });
  }
  if (cluster.metadata.deletionTimestamp !== undefined) {
    const message = `the Cluster ${name} is being deleted`;
    throw new StageError({ type: 'Ready', reason: 'ClusterDeleting', message });
  }
  const paused = [cluster, addon].find((one) => one.metadata.annotations?.[pausedAnnotation] !== undefined);
  if (paused !== undefined || cluster.spec?.paused === true) {
    const message = `the Cluster ${name} is paused, or it or its ClusterAddon has the annotation ${pausedAnnotation}`;
    throw new StageError({ type: 'Ready', reason: 'Paused', message });
  }
  return cluster;
}

/**
 * The release of a Cluster's class, wherever that class is, with its files.
 * @throws StageError
 */
export async function releaseOfCluster(
  deps: Dependencies,
  cluster: CapiCluster,
  signal: AbortSignal,
): Promise<Gathered> {
  const key = classOf(cluster);
  const found = key && (await deps.cluster.get(capiClusterClass, key, { signal }));
  const name = found?.metadata.labels?.[clusterStackLabels.release];
  if (key === undefined || name === undefined) throw noClusterStack(cluster, key?.name);
  const release = await deps.cluster.get(clusterStackRelease, { ...key, name }, { signal });
  if (release === undefined) {
    const message = `ClusterStackRelease ${name} in namespace ${key.namespace ?? ''}, which created the ClusterClass ${key.name}, does not exist: let its ClusterStack create it again`;
    throw notDownloaded(message);
  }
  if (release.status?.digest === undefined) {
    throw notDownloaded(`the ClusterStackRelease ${name} has not been fetched yet`);
  }
  const assets = await deps.assets(release, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    if (error instanceof StageError) throw error;
    const message = `cannot load the files of the release ${name}: ${messageOf(error)}`;
    // By name, for errors of a store are values of its own.
    if (!(error instanceof Error && error.name === 'BadReleaseError')) throw notDownloaded(message, error);
    const blocker = { type: 'ClusterStackReleaseDownloaded', reason: 'IssueWithReleaseAssets', message } as const;
    throw new StageError({ ...blocker, afterMs: lookAgain.late }, { cause: error });
  });
  const config = configOf(assets.addons);
  refuseFaults(config, name);
  return { cluster, className: key.name, classNamespace: key.namespace ?? '', release, assets, config };
}

function noClusterStack(cluster: CapiCluster, className: string | undefined): StageError {
  const name = cluster.metadata.name;
  const what =
    className === undefined
      ? 'has no topology'
      : `uses the ClusterClass ${className}, which was not created by a release of a ClusterStack`;
  return new StageError({ type: 'Ready', reason: 'NoClusterStack', message: `the Cluster ${name} ${what}` });
}

function notDownloaded(message: string, cause?: unknown): StageError {
  const blocker = {
    type: 'ClusterStackReleaseDownloaded',
    reason: 'ReleaseAssetsNotDownloadedYet',
    message,
    afterMs: lookAgain.usual,
  } as const;
  return new StageError(blocker, cause === undefined ? {} : { cause });
}

/** What can never hold is said before the first stage runs, not after half of them. */
function refuseFaults({ stages }: ClusterAddonConfig, release: string): void {
  for (const [hook, list] of Object.entries(stages)) {
    for (const { name, before, after } of list) {
      for (const [when, condition] of Object.entries({ waitForPreCondition: before, waitForPostCondition: after })) {
        const fault = condition && conditionFault(condition);
        if (fault === undefined) continue;
        const message = `clusteraddon.yaml of ${release}: ${hook}, stage ${name}, ${when}: ${fault}; push a new release that fixes it`;
        throw new StageError({
          type: 'ClusterAddonConfigValidated',
          reason: 'ParsingClusterAddonConfigFailed',
          message,
          afterMs: lookAgain.late,
        });
      }
    }
  }
}
