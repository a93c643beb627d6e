import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import type { Key } from '../../api/meta.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../runtime/controller.ts';
import type { Cluster } from '../../runtime/cluster.ts';
import type { ExternalHosting } from './external/hosting.ts';
import type { InfrastructureWatches } from './infrastructure-watches.ts';
import type { ObstacleWatches } from './obstacle-watches.ts';

/** Owner of the fields that this controller writes. */
export const fieldManager = 'steward-cluster-api';

/** What the phases act through. */
export interface Dependencies {
  readonly cluster: Cluster;
  /** Only objects whose label `cluster.x-k8s.io/watch-filter` has this value are served; empty: all. */
  readonly watchFilter: string;
  /** Absent: control planes in other clusters are switched off. */
  readonly external?: ExternalHosting;
  /** Absent: the layer of cluster stacks is switched off, and nobody is waited for before an upgrade. */
  readonly addons?: {
    /** All control planes, as a cache has them. */
    readonly controlPlanes: () => readonly StewardControlPlane[];
  };
  /** True when a watch has seen a Secret of this name with the label of a Cluster. Absent: what was supplied in vain is not told. */
  readonly isLabelled?: (secret: Key) => boolean | Promise<boolean>;
  /**
   * Removes from the stores what is kept of a TenantControlPlane that is gone; says what it waits for. Absent where no store can be
   * reached: what is kept is waited for then.
   */
  readonly removeData?: (
    former: TenantControlPlane,
    ctx: Context,
  ) => Promise<{ readonly message: string; readonly afterMs: number } | undefined>;
  /** Tells of changes of infrastructure clusters. */
  readonly infrastructure: Pick<InfrastructureWatches, 'follow' | 'leave' | 'deafness'>;
  /** Tells of changes of what is in the way. */
  readonly obstacles: Pick<ObstacleWatches, 'follow' | 'isDeaf'>;
}
