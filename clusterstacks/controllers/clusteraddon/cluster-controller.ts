import { classOf } from '../../../api/cluster-api/class-of.ts';
import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import { capiCluster, capiClusterClass } from '../../../api/cluster-api/kinds.ts';
import { watchFilterLabel } from '../../../api/cluster-api/names.ts';
import type { ClusterAddon } from '../../api/cluster-addon.ts';
import { clusterAddon } from '../../api/cluster-addon.ts';
import { clusterAddonName, clusterStackLabels } from '../../api/names.ts';
import type { Key, Manifest, Resource } from '../../../api/meta.ts';
import { apiVersionOf } from '../../../api/meta.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import type { Controller, ReconcileResult } from '../../../runtime/reconcile/controller.ts';
import { createIfAbsent } from '../../../runtime/client/create-if-absent.ts';
import { access } from './access.ts';
import { fieldManager } from './dependencies.ts';
import { isWatched } from './is-watched.ts';
import { clusterOfAddon } from './watches.ts';

/** What the watch over Clusters acts through. */
export interface ClusterWatchDependencies {
  readonly cluster: Cluster;
  /** Only Clusters whose label has this value are served; all when empty or absent. */
  readonly watchFilter?: string;
  /** All Clusters, as a cache has them. */
  readonly clusters: () => readonly CapiCluster[];
}

/**
 * Creates a ClusterAddon for each Cluster whose class a release of a ClusterStack created, and recreates it after a deletion. Other
 * Clusters are not changed.
 */
export function clusterWatchController(deps: ClusterWatchDependencies): Controller<CapiCluster> {
  const ofClass = (old: Resource | undefined, now: Resource | undefined): readonly Key[] => {
    const { name, namespace } = (now ?? old)?.metadata ?? {};
    const users = deps.clusters().filter((cluster) => {
      const key = classOf(cluster);
      return key?.name === name && key?.namespace === namespace;
    });
    return users.map(({ metadata }) => ({ namespace: metadata.namespace, name: metadata.name }));
  };
  return {
    name: 'clusteraddon-cluster',
    kind: capiCluster,
    optional: true,
    access,
    watches: [
      { kind: clusterAddon, keys: clusterOfAddon },
      {
        ...{ kind: capiClusterClass, labelSelector: clusterStackLabels.release, metadataOnly: true, optional: true },
        keys: ofClass,
      },
    ],
    serves: isWatched(deps.watchFilter),
    async reconcile(cluster, { signal }): Promise<ReconcileResult<CapiCluster>> {
      const key = classOf(cluster);
      if (key === undefined || cluster.metadata.deletionTimestamp !== undefined) return {};
      const manifest = clusterAddonOf(cluster);
      const { name, namespace = '' } = manifest.metadata;
      const existing = await deps.cluster.get(clusterAddon, { name, namespace }, { signal });
      if (existing !== undefined) {
        await followLabel(deps, { existing, cluster }, signal);
        return {};
      }
      const found = await deps.cluster.get(capiClusterClass, key, { signal });
      if (found?.metadata.labels?.[clusterStackLabels.release] === undefined) return {};
      await createIfAbsent(deps.cluster, { kind: clusterAddon, manifest }, { fieldManager, signal });
      return {};
    },
  };
}

/** The manager that reconciles the Cluster also reconciles its add-ons. */
async function followLabel(
  { cluster: client }: ClusterWatchDependencies,
  { existing, cluster }: { readonly existing: ClusterAddon; readonly cluster: CapiCluster },
  signal: AbortSignal,
): Promise<void> {
  const wanted = cluster.metadata.labels?.[watchFilterLabel];
  const { namespace, name, labels, resourceVersion } = existing.metadata;
  if (labels?.[watchFilterLabel] === wanted) return;
  const body = { metadata: { labels: { [watchFilterLabel]: wanted ?? null }, resourceVersion } };
  await client.patch(clusterAddon, { namespace, name }, { type: 'merge', body }, { fieldManager, signal });
}

/** The ClusterAddon of a Cluster: it goes with it. */
export function clusterAddonOf({ apiVersion, kind, metadata }: CapiCluster): Manifest {
  const { name, namespace, uid, labels } = metadata;
  const watched = labels?.[watchFilterLabel];
  return {
    apiVersion: apiVersionOf(clusterAddon),
    kind: clusterAddon.kind,
    metadata: {
      name: clusterAddonName(name),
      namespace,
      ...(watched !== undefined && { labels: { [watchFilterLabel]: watched } }),
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }],
    },
    spec: { clusterRef: { apiVersion, kind, name, namespace, uid } },
  };
}
