import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import type { RetainedControlPlane } from '../../api/steward/v1alpha1/retained-control-plane.ts';
import type { TenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { CapiCluster } from '../../api/cluster-api/kinds.ts';
import type { FoundHost } from './hosting/find-host.ts';
import type { HostAndPort } from './infrastructure/host-and-port.ts';

/** What a reconcile knows; phases add to it. */
export interface Scope {
  readonly scp: StewardControlPlane;
  readonly cluster: CapiCluster;
  /** Names of Clusters that name this control plane too, and are not served. */
  readonly otherClusters?: readonly string[];
  /** Where the TenantControlPlane is, when that is another cluster. */
  readonly host?: FoundHost;
  readonly tenant?: TenantControlPlane;
  /** The record of the previous TenantControlPlane, until another one has adopted it. */
  readonly retained?: RetainedControlPlane;
  /** What a new version waits for, as text. */
  readonly held?: string;
  /** What it does not wait for, because an annotation says so. */
  readonly passedOver?: string;
  /** The TenantRestore of this control plane, until the restore is on record. */
  readonly restore?: TenantRestore;
  /** The moment up to which the backup in the spec was restored, when that is not on record yet. */
  readonly restored?: string;
  /** True when the backup in the spec is not restored, because the TenantControlPlane may have data. */
  readonly leftUnrestored?: boolean;
  readonly endpoint?: HostAndPort;
  /** True when both Secrets of the contract are as they should be. */
  readonly secretsWritten?: boolean;
}
