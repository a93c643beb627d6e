import { capiGroup } from '../../../api/cluster-api/names.ts';
import { clusterStackGroup, providerReleaseGroup } from '../../api/names.ts';
import type { PolicyRule } from '../../../api/meta.ts';

const everything = ['get', 'list', 'watch', 'create', 'patch', 'delete'];

/**
 * The permissions of this controller. Of Cluster API's own kinds a release may create ClusterClasses and
 * ClusterResourceSets; the groups of providers have templates with any names. All other kinds in a chart need a ClusterRole
 * with the label `steward.butlerlabs.dev/aggregate-to-stacks`.
 */
export const access: readonly PolicyRule[] = [
  { apiGroups: [clusterStackGroup], resources: ['clusterstacks'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [clusterStackGroup], resources: ['clusterstackreleases'], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: [clusterStackGroup], resources: ['clusterstackreleases/status'], verbs: ['patch'] },
  // Owners that block their own deletion until what they own is gone.
  { apiGroups: [clusterStackGroup], resources: ['clusterstackreleases/finalizers'], verbs: ['update'] },
  { apiGroups: [capiGroup], resources: ['clusters'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [capiGroup], resources: ['clusterclasses'], verbs: everything },
  { apiGroups: [`addons.${capiGroup}`], resources: ['clusterresourcesets'], verbs: everything },
  {
    apiGroups: [`infrastructure.${capiGroup}`, `bootstrap.${capiGroup}`, `controlplane.${capiGroup}`],
    resources: ['*'],
    verbs: everything,
  },
  { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
  { apiGroups: [providerReleaseGroup], resources: ['*'], verbs: ['get', 'list', 'watch', 'patch'] },
  { nonResourceURLs: ['/api/*', '/apis/*'], verbs: ['get'] },
];
