import { classOf } from '../../api/cluster-api/class-of.ts';
import type { CapiCluster } from '../../api/cluster-api/kinds.ts';
import { clusterStackLabels } from '../api/names.ts';
import type { Key, Resource } from '../../api/meta.ts';
import { readReleaseName, releaseOfClass } from './release-name.ts';

const textOf = ({ namespace = '', name }: Key): string => `${namespace}/${name}`;

/**
 * The release that a ClusterClass belongs to: by its label or, if the class does not exist or was created before there were labels, by its
 * name. Undefined for a class that does not come from a release.
 */
export function releaseOf(key: Key, found: Resource | undefined): Key | undefined {
  const label = found?.metadata.labels?.[clusterStackLabels.release];
  if (label !== undefined) return { ...key, name: label };
  return readReleaseName(key.name) === undefined ? undefined : { ...key, name: releaseOfClass(key.name) };
}

/**
 * Which releases (`namespace/name`) are in use, and by which Clusters (`namespace/name`) of any namespace: a Cluster may use a
 * class of another namespace. `classes` may lack those without the label.
 */
export function releasesInUse(
  clusters: readonly CapiCluster[],
  classes: readonly Resource[],
): ReadonlyMap<string, readonly string[]> {
  const byKey = new Map(classes.map((one) => [`${one.metadata.namespace ?? ''}/${one.metadata.name}`, one]));
  const uses = clusters.flatMap(({ metadata, ...rest }) => {
    const key = classOf({ metadata, ...rest });
    const release = key === undefined ? undefined : releaseOf(key, byKey.get(textOf(key)));
    if (release === undefined) return [];
    return [{ release: textOf(release), cluster: `${metadata.namespace}/${metadata.name}` }];
  });
  const grouped = Map.groupBy(uses, ({ release }) => release);
  return new Map([...grouped].map(([release, all]) => [release, all.map(({ cluster }) => cluster).sort()]));
}
