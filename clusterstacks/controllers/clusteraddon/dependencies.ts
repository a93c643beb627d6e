import type { ClusterStackRelease } from '../../api/cluster-stack-release.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import type { ReleaseAssets } from '../../sources/release-assets.ts';
import type { Renderer } from '../../sources/renderer.ts';
import type { TenantPool } from '../../../tenants/pool.ts';
import type { SeenClusters } from './watches.ts';
import type { ObjectMemory } from '../../../runtime/cache/object-memory.ts';

/** The dependencies of the controller of ClusterAddons. */
export interface Dependencies {
  /** What is remembered about an object is dropped with it. */
  readonly memory: ObjectMemory;
  readonly cluster: Cluster;
  /** Only ClusterAddons whose label has this value are served; all when empty or absent. */
  readonly watchFilter?: string;
  /** Reports whose release has changed. */
  readonly seen: SeenClusters;
  readonly clock: Clock;
  /** In [0, 1): scatters the pauses of clusters that fail together. */
  readonly random: () => number;
  readonly renderer: Renderer;
  /** Clients of workload clusters, limited like those of tenants. */
  readonly pool: Pick<TenantPool, 'borrow'>;
  /** The files of a release, by the digest in its status. */
  readonly assets: (release: ClusterStackRelease, signal: AbortSignal) => Promise<ReleaseAssets>;
}

/** Owner of the fields of ClusterAddons that this controller writes. */
export const fieldManager = 'steward-clusteraddon';
