import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import { clusterNameLabel } from '../../../api/cluster-api/names.ts';
import { clusterAddonName } from '../../api/names.ts';
import type { ClusterAddon } from '../../api/cluster-addon.ts';
import type { ClusterStackRelease } from '../../api/cluster-stack-release.ts';
import type { Key, Resource } from '../../../api/meta.ts';
import { releasesInUse } from '../../sources/releases-in-use.ts';

const addonOf = (namespace: string | undefined, cluster: string): Key => ({
  namespace: namespace ?? '',
  name: clusterAddonName(cluster),
});

/** The ClusterAddon of a Cluster in which something changed that it goes by; its status is written all the time. */
export function addonOfCluster(old: CapiCluster | undefined, now: CapiCluster | undefined): readonly Key[] {
  const cluster = now ?? old;
  if (cluster === undefined || (old !== undefined && now !== undefined && aspects(old) === aspects(now))) return [];
  return [addonOf(cluster.metadata.namespace, cluster.metadata.name)];
}

function aspects({ metadata, spec, status }: CapiCluster): string {
  const { labels, annotations, deletionTimestamp } = metadata;
  const states = status?.conditions?.map(({ type, status }) => `${type}=${status}`).sort();
  return JSON.stringify([spec, labels, annotations, deletionTimestamp, states, status?.initialization]);
}

/** The ClusterAddon of the Cluster that workers belong to. */
export function addonsOfMachineDeployment(old: Resource | undefined, now: Resource | undefined): readonly Key[] {
  const { labels, namespace } = (now ?? old)?.metadata ?? {};
  const cluster = labels?.[clusterNameLabel];
  return cluster === undefined ? [] : [addonOf(namespace, cluster)];
}

/** Clusters and the ClusterClasses that releases made, as caches have them. */
export interface SeenClusters {
  readonly clusters: () => readonly CapiCluster[];
  readonly classes: () => readonly Resource[];
}

/** The ClusterAddons of the Clusters that use a release in which something changed that they wait for. */
export function addonsOfRelease(
  seen: SeenClusters,
): (old: ClusterStackRelease | undefined, now: ClusterStackRelease | undefined) => readonly Key[] {
  return (old, now) => {
    if (stateOf(old) === stateOf(now)) return [];
    const { namespace = '', name = '' } = (now ?? old)?.metadata ?? {};
    const users = releasesInUse(seen.clusters(), seen.classes()).get(`${namespace}/${name}`) ?? [];
    return users.map((user) => {
      const [of = '', cluster = ''] = user.split('/');
      return addonOf(of, cluster);
    });
  };
}

function stateOf(release: ClusterStackRelease | undefined): string {
  if (release === undefined) return '';
  const { digest, ready, conditions } = release.status ?? {};
  const states = conditions?.map(({ type, status }) => `${type}=${status}`).sort();
  return JSON.stringify([release.metadata.uid, digest, ready, states]);
}

/** The Cluster of a ClusterAddon that is gone. */
export function clusterOfAddon(old: ClusterAddon | undefined, now: ClusterAddon | undefined): readonly Key[] {
  if (old === undefined || now !== undefined) return [];
  return [{ namespace: old.metadata.namespace, name: old.spec.clusterRef.name ?? '' }];
}
