import type { KubernetesVersion } from '../../../../kubeadm/versions.ts';

/**
 * Image and tag. The minors of konnectivity follow those of Kubernetes, and the project recommends equal minors
 * (https://github.com/kubernetes-sigs/apiserver-network-proxy, "Versioning and releases").
 */
export function konnectivityImage(
  { minor }: KubernetesVersion,
  { image, version = '' }: { readonly image: string; readonly version?: string | undefined },
): string {
  return `${image}:${version === '' ? `v0.${minor}.0` : version}`;
}
