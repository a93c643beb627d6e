import type { KubeconfigGenerator } from '../../api/steward/v1alpha1/kubeconfig-generator.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import type { ObjectMemory } from '../../runtime/cache/object-memory.ts';

/** What the controller acts through. */
export interface Dependencies {
  /** What is remembered about an object is dropped with it. */
  readonly memory: ObjectMemory;
  readonly cluster: Cluster;
  /** All TenantControlPlanes, from a cache. */
  tenants(): readonly TenantControlPlane[];
  /** All KubeconfigGenerators, from a cache. */
  generators(): readonly KubeconfigGenerator[];
  /** Certificates with less left are renewed, in milliseconds. */
  readonly renewBeforeMs: number;
}
