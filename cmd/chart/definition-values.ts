import type { ChartValues } from './chart-value.ts';
import { anything, flag, group } from './chart-value.ts';

/** The values of the chart `steward-crds`. */
export const definitionValues: ChartValues = {
  keep: flag(
    true,
    'Whether definitions stay when the release is uninstalled. Without them every tenant and DataStore is deleted by Kubernetes.',
  ),
  clusterApi: group('The kinds of the Cluster API provider.', {
    enabled: flag(true, 'Whether StewardControlPlane and StewardControlPlaneTemplate are defined.'),
  }),
  clusterStacks: group('The kinds of the optional layer of cluster stacks.', {
    enabled: flag(false, 'Whether ClusterStack, ClusterStackRelease and ClusterAddon are defined.'),
  }),
  labels: anything(
    {},
    'More labels of the definitions; {clusterctl.cluster.x-k8s.io: ""} lets clusterctl move take their objects along.',
  ),
  annotations: anything({}, 'More annotations of the definitions.'),
};
