import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { parseVersion } from '../../../../kubeadm/versions.ts';

/**
 * Image and tag. The minors of konnectivity follow those of Kubernetes, and the project recommends equal minors
 * (https://github.com/kubernetes-sigs/apiserver-network-proxy, "Versioning and releases").
 */
export function konnectivityImage(
  tcp: TenantControlPlane,
  { image, version = '' }: { readonly image: string; readonly version?: string | undefined },
): string {
  if (version !== '') return `${image}:${version}`;
  const { minor } = parseVersion(tcp.spec.kubernetes.version, 'spec.kubernetes.version');
  return `${image}:v0.${minor}.0`;
}
