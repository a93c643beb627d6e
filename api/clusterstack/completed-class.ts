import type { Key } from '../meta.ts';
import type { ClusterAddon } from './cluster-addon.ts';

/** The ClusterClass whose add-ons were completed last, by the spec of a ClusterAddon; undefined before the first. */
export function completedClass({ metadata, spec }: Pick<ClusterAddon, 'metadata' | 'spec'>): Key | undefined {
  const { clusterStack: name = '' } = spec;
  // Empty is absent.
  const [namespace = ''] = [spec.clusterStackNamespace, metadata.namespace].filter(Boolean);
  return name === '' ? undefined : { namespace, name };
}
