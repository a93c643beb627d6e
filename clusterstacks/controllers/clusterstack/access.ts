import { capiGroup } from '../../../api/cluster-api/names.ts';
import { clusterStackGroup, providerReleaseGroup } from '../../api/names.ts';
import type { PolicyRule } from '../../../api/meta.ts';

/** What this controller may do. */
export const access: readonly PolicyRule[] = [
  { apiGroups: [clusterStackGroup], resources: ['clusterstacks'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [clusterStackGroup], resources: ['clusterstacks/status'], verbs: ['patch'] },
  {
    apiGroups: [clusterStackGroup],
    resources: ['clusterstackreleases'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  // Which Clusters use a release, and of which release a class is.
  { apiGroups: [capiGroup], resources: ['clusters', 'clusterclasses'], verbs: ['get', 'list', 'watch'] },
  // Credentials and CAs of sources.
  { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
  // Providers choose the names of their kinds.
  { apiGroups: [providerReleaseGroup], resources: ['*'], verbs: ['get', 'create', 'patch'] },
  // How kinds are named in paths.
  { nonResourceURLs: ['/api/*', '/apis/*'], verbs: ['get'] },
];
