import { kinds } from '../../../api/core/kinds.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import type { Program } from './guarded-arguments.ts';
import { needsStandard } from './validate-pod-security.ts';
import { standardOf } from './pod-security/standard.ts';
import type { PodSecurityStandard, StandardInForce } from './pod-security/standard.ts';

/** How the namespace is read. */
export interface NamespaceReader {
  readonly cluster: Pick<Cluster, 'get'>;
  readonly defaultStandard: PodSecurityStandard;
  readonly programs: readonly Program[];
}

/** The Pod Security Standard in force for a control plane; undefined, without a request, if the author adds nothing to check. */
export async function namespaceStandard(
  tcp: TenantControlPlane,
  namespace: string,
  { cluster, defaultStandard, programs }: NamespaceReader,
  signal: AbortSignal,
): Promise<StandardInForce | undefined> {
  if (!needsStandard(tcp, programs)) return undefined;
  const found = await cluster.get(kinds.Namespace, { name: namespace }, { signal });
  return standardOf(found?.metadata.labels, defaultStandard);
}
