import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/**
 * Issuers of service-account tokens: the author's URL or the cluster's own domain issues them. The others are accepted, too,
 * because earlier tokens have them.
 */
export function serviceAccountIssuers({ kubernetes, networkProfile }: TenantControlPlane['spec']): readonly string[] {
  const { url, formerURLs = [] } = kubernetes.serviceAccountIssuer ?? {};
  const inner = [networkProfile.clusterDomain, 'cluster.local'].map(
    (domain) => `https://kubernetes.default.svc.${domain}`,
  );
  return [...new Set(url === undefined ? inner : [url, ...formerURLs, ...inner])];
}
