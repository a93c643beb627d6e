import type { Cluster } from '../../runtime/cluster.ts';

/** Owner of the fields that this controller writes. */
export const fieldManager = 'steward-cluster-api';

/** What the phases act through. */
export interface Dependencies {
  readonly cluster: Cluster;
  /** Only objects whose label `cluster.x-k8s.io/watch-filter` has this value are served; empty: all. */
  readonly watchFilter: string;
}
