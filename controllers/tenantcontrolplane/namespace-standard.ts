import { kinds } from '../../api/core/kinds.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Cluster } from '../../runtime/cluster.ts';
import { needsStandard } from './validation/pod-security-complaints.ts';
import { standardOf } from './validation/pod-security/standard.ts';
import type { PodSecurityStandard, StandardInForce } from './validation/pod-security/standard.ts';

/** Where the namespace is asked. */
export interface NamespaceReader {
  readonly cluster: Pick<Cluster, 'get'>;
  readonly defaultStandard: PodSecurityStandard;
}

/** The Pod Security Standard that counts for a control plane; undefined, and nobody is asked, where it adds nothing to judge. */
export async function namespaceStandard(
  tcp: TenantControlPlane,
  namespace: string,
  { cluster, defaultStandard }: NamespaceReader,
  signal: AbortSignal,
): Promise<StandardInForce | undefined> {
  if (!needsStandard(tcp)) return undefined;
  const found = await cluster.get(kinds.Namespace, { name: namespace }, { signal });
  return standardOf(found?.metadata.labels, defaultStandard);
}
