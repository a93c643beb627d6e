import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { isTrue } from '../../../runtime/reconcile/conditions.ts';

/** States in which the API server of a TenantControlPlane can be used. */
const usable: readonly string[] = ['Ready', 'Upgrading', 'WriteLimited', 'Migrating', 'CertificateAuthorityRotating'];

/** Whether the API server of a TenantControlPlane can be used now. */
export function isUsable(tenant: TenantControlPlane | undefined): boolean {
  const { version, deployment } = tenant?.status?.kubernetesResources ?? {};
  return version?.status !== undefined && usable.includes(version.status) && (deployment?.readyReplicas ?? 0) > 0;
}

/** Whether it can be used and holds all that joining nodes need. */
export function isSettled(tenant: TenantControlPlane | undefined): boolean {
  return isUsable(tenant) && isTrue(tenant?.status?.conditions, 'TenantConfigured');
}
