import { classOf } from '../../../../api/cluster-api/class-of.ts';
import type { CapiCluster } from '../../../../api/cluster-api/kinds.ts';
import { capiCluster, capiClusterClass } from '../../../../api/cluster-api/kinds.ts';
import type { ClusterAddon } from '../../../api/cluster-addon.ts';
import { clusterAddon } from '../../../api/cluster-addon.ts';
import { clusterAddonName, clusterStackLabels } from '../../../api/names.ts';
import { stewardControlPlane } from '../../../../api/controlplane/steward-control-plane.ts';
import type { Key } from '../../../../api/meta.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import { ApiError } from '../../../../runtime/client/errors.ts';
import { isInitialized } from '../stages/is-initialized.ts';
import { isWatched } from '../is-watched.ts';

/** A Cluster whose add-ons an upgrade has to wait for, with what was done for it. */
export interface KnownCluster {
  readonly cluster: CapiCluster;
  /** Its ClusterClass, which a release made. */
  readonly classKey: Key;
  readonly isInitialized: boolean;
  /** Where its ClusterAddon is, or will be. */
  readonly addonKey: Required<Key>;
  readonly addon: ClusterAddon | undefined;
}

/** Which Clusters this manager reconciles. */
export interface KnownClusterParts {
  /** Read only. */
  readonly cluster: Pick<Cluster, 'get' | 'list'>;
  /** Only Clusters whose label has this value; all when empty or absent. */
  readonly watchFilter?: string;
  /** Only those of this namespace; of all when empty or absent. */
  readonly namespace?: string;
}

/**
 * The current facts about a Cluster; undefined for one that the hooks ignore: one that this manager does not reconcile, that does not exist
 * or is being deleted, whose class no release created, or whose control plane is a StewardControlPlane, which holds its upgrade itself.
 * If the kind ClusterAddon does not exist, they ignore every Cluster.
 */
export async function knownCluster(
  { cluster: client, watchFilter, namespace = '' }: KnownClusterParts,
  key: Required<Key>,
  signal: AbortSignal,
): Promise<KnownCluster | undefined> {
  if (namespace !== '' && key.namespace !== namespace) return undefined;
  const cluster = await client.get(capiCluster, key, { signal });
  if (cluster === undefined || cluster.metadata.deletionTimestamp !== undefined || holdsItself(cluster))
    return undefined;
  if (!isWatched(watchFilter)(cluster)) return undefined;
  const classKey = classOf(cluster);
  const found = classKey && (await client.get(capiClusterClass, classKey, { signal }));
  if (classKey === undefined || found?.metadata.labels?.[clusterStackLabels.release] === undefined) return undefined;
  const addonKey = { namespace: key.namespace, name: clusterAddonName(key.name) };
  const addons = await addonsAt(client, addonKey, signal);
  if (addons === undefined) return undefined;
  return { cluster, classKey, isInitialized: isInitialized(cluster), addonKey, addon: addons[0] };
}

/** A list, because only a list distinguishes an absent object from an absent kind, for which it is undefined. */
async function addonsAt(
  client: KnownClusterParts['cluster'],
  { namespace, name }: Required<Key>,
  signal: AbortSignal,
): Promise<readonly ClusterAddon[] | undefined> {
  try {
    return (await client.list(clusterAddon, { namespace, fieldSelector: `metadata.name=${name}`, signal })).items;
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return undefined;
    throw error;
  }
}

function holdsItself({ spec }: CapiCluster): boolean {
  const { apiGroup, kind } = spec?.controlPlaneRef ?? {};
  return apiGroup === stewardControlPlane.group && kind === stewardControlPlane.kind;
}
