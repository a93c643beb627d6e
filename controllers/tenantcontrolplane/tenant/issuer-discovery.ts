import type { Manifest } from '../../../api/meta.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { clusterRoleBinding } from '../../../kubeadm/rbac.ts';

/**
 * Lets everyone read the discovery document and the public keys of the issuer of service-account tokens, without a login
 * (https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/#service-account-issuer-discovery). None
 * unless the author wants it.
 */
export function issuerDiscoveryManifests({ spec }: TenantControlPlane): readonly Manifest[] {
  if (spec.kubernetes.serviceAccountIssuer?.publicDiscovery !== true) return [];
  const subject = { kind: 'Group', name: 'system:unauthenticated' } as const;
  return [clusterRoleBinding('steward:public-issuer-discovery', 'system:service-account-issuer-discovery', subject)];
}
