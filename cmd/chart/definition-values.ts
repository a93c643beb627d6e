import type { ChartValues } from './chart-value.ts';
import { anything, flag, group } from './chart-value.ts';

/** The values of the chart `steward-crds`. */
export const definitionValues: ChartValues = {
  keep: flag(
    true,
    'Whether the CustomResourceDefinitions are kept when the release is uninstalled. Deleting them deletes every tenant and DataStore.',
  ),
  clusterApi: group('Kinds of the Cluster API provider.', {
    enabled: flag(true, 'Whether StewardControlPlane and StewardControlPlaneTemplate are installed.'),
  }),
  clusterStacks: group('Kinds of the optional layer of cluster stacks.', {
    enabled: flag(false, 'Whether ClusterStack, ClusterStackRelease and ClusterAddon are installed.'),
  }),
  labels: anything(
    {},
    'Additional labels of the CustomResourceDefinitions. With {clusterctl.cluster.x-k8s.io: ""}, clusterctl move includes their objects.',
  ),
  annotations: anything({}, 'Additional annotations of the CustomResourceDefinitions.'),
};
