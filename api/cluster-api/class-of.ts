import type { Key } from '../meta.ts';
import type { CapiCluster } from './kinds.ts';

interface Topology {
  /** In API version v1beta2. */
  readonly classRef?: { readonly name?: string; readonly namespace?: string };
  /** In API version v1beta1. */
  readonly class?: string;
  readonly classNamespace?: string;
}

/** The ClusterClass of a Cluster, possibly in another namespace; undefined for a Cluster without topology. */
export function classOf({ metadata, spec }: CapiCluster): Key | undefined {
  const { classRef, class: named, classNamespace } = (spec?.topology ?? {}) as Topology;
  // An empty string counts as absent.
  const [name] = [classRef?.name, named].filter(Boolean);
  const [namespace = ''] = [classRef?.namespace, classNamespace, metadata.namespace].filter(Boolean);
  return name === undefined ? undefined : { namespace, name };
}
