import type { PolicyRule } from '../../../../api/meta.ts';

/** What answers at the hooks of Cluster API need. */
export const access: readonly PolicyRule[] = [
  { apiGroups: ['cluster.x-k8s.io'], resources: ['clusters', 'clusterclasses'], verbs: ['get'] },
  { apiGroups: ['clusterstack.x-k8s.io'], resources: ['clusteraddons'], verbs: ['list'] },
];
