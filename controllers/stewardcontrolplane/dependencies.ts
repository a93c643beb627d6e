import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import type { Key } from '../../api/meta.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import type { ExternalHosting } from './hosting/hosting.ts';
import type { InfrastructureWatches } from './infrastructure/infrastructure-watches.ts';
import type { BlockerWatches } from './infrastructure/blocker-watches.ts';

/** Owner of the fields that this controller writes. */
export const fieldManager = 'steward-cluster-api';

/** What the phases act through. */
export interface Dependencies {
  readonly cluster: Cluster;
  /** Only objects whose label `cluster.x-k8s.io/watch-filter` has this value are served; empty: all. */
  readonly watchFilter: string;
  /** Absent: control planes in other clusters are switched off. */
  readonly external?: ExternalHosting;
  /** Absent: the layer of cluster stacks is disabled, and upgrades wait for no add-ons. */
  readonly addons?: {
    /** All control planes, as a cache has them. */
    readonly controlPlanes: () => readonly StewardControlPlane[];
  };
  /** True when a watch has seen a Secret of this name with the label of a Cluster. Absent: what was supplied in vain is not reported. */
  readonly isLabeled?: (secret: Key) => boolean | Promise<boolean>;
  /** True: controllers of backups run, and TenantRestores are served. */
  readonly backups?: boolean;
  /** Reports changes of infrastructure clusters. */
  readonly infrastructure: Pick<InfrastructureWatches, 'follow' | 'leave' | 'watchFailure'>;
  /** Reports changes of what is in the way. */
  readonly blockers: Pick<BlockerWatches, 'follow' | 'isUnwatched'>;
}
