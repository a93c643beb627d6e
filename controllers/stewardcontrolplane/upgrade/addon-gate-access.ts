import type { PolicyRule } from '../../../api/meta.ts';

/** What this controller needs besides where upgrades wait for the add-ons of cluster stacks: rights of that optional layer. */
export const addonGateAccess: readonly PolicyRule[] = [
  { apiGroups: ['cluster.x-k8s.io'], resources: ['clusterclasses'], verbs: ['get'] },
  { apiGroups: ['clusterstack.x-k8s.io'], resources: ['clusteraddons'], verbs: ['list', 'watch'] },
];
