import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { CapiCluster } from '../../api/cluster-api/kinds.ts';
import type { HostAndPort } from './host-and-port.ts';

/** What a visit knows; phases add to it. */
export interface Scope {
  readonly scp: StewardControlPlane;
  readonly cluster: CapiCluster;
  readonly tenant?: TenantControlPlane;
  readonly endpoint?: HostAndPort;
  /** True when both Secrets of the contract are as they should be. */
  readonly secretsWritten?: boolean;
}
