import type { Key } from '../../api/meta.ts';
import type { ClusterAddon } from './cluster-addon.ts';

/** ClusterClass whose add-ons were completed last, according to the spec; undefined before the first one. */
export function completedClass({ metadata, spec }: Pick<ClusterAddon, 'metadata' | 'spec'>): Key | undefined {
  const { clusterStack: name = '' } = spec;
  // An empty string counts as absent.
  const [namespace = ''] = [spec.clusterStackNamespace, metadata.namespace].filter(Boolean);
  return name === '' ? undefined : { namespace, name };
}
