import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import type { ClusterStack } from '../../api/cluster-stack.ts';
import type { Resource } from '../../../api/meta.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import type { KindDiscovery } from '../../../runtime/client/kind-discovery.ts';
import type { AssetStore } from '../../sources/asset-store.ts';
import type { ManagerSource } from '../../sources/stack-source.ts';
import type { ObjectMemory } from '../../../runtime/cache/object-memory.ts';

/** What the controller works with. */
export interface Dependencies {
  /** What is remembered about an object is dropped with it. */
  readonly memory: ObjectMemory;
  readonly cluster: Cluster;
  readonly assets: Pick<AssetStore, 'list' | 'current'>;
  /** Of the management cluster. */
  readonly discovery: Pick<KindDiscovery, 'find'>;
  /** The source of stacks that name none. */
  readonly source: ManagerSource;
  /** Only stacks whose label has this value are served; all when empty. */
  readonly watchFilter: string;
  /** Clusters of all namespaces, as they were seen last. */
  readonly clusters: () => readonly CapiCluster[];
  /** ClusterClasses that releases made, as they were seen last. */
  readonly classes: () => readonly Resource[];
  /** Stacks of a namespace, as they were seen last. */
  readonly stacks: (namespace: string) => readonly ClusterStack[];
}
