import type { Deployment, Secret } from '../../../api/core/kinds.ts';
import { componentChecksumLabel } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { isIpAddress } from '../../../kubeadm/networks.ts';
import { parseCertificates } from '../../../kubeadm/pki/certificate-chain.ts';
import { checksum } from '../../../kubeadm/pki/checksum.ts';
import type { Endpoint } from './control-plane-input.ts';
import { agentHost } from './konnectivity/agent-address.ts';
import { leafData, leafSecrets } from './leaf-secrets.ts';
import type { LeafSecret } from './leaf-secrets.ts';
import { secretText } from './secret.ts';

/** What the pods of a control plane are seen by. */
export interface SeenPods {
  readonly deployment: Deployment | undefined;
  /** By name. */
  readonly secrets: ReadonlyMap<string, Secret>;
}

/** True when no pod of an older kind is left; those that are not ready are sent no connections. */
function areAllNew({ metadata, status }: Deployment): boolean {
  if (metadata.generation !== status?.observedGeneration) return false;
  return (status?.updatedReplicas ?? 0) === (status?.replicas ?? 0);
}

function isNamed(certificate: string, host: string): boolean {
  try {
    const [leaf] = parseCertificates(certificate, 'certificate');
    return (isIpAddress(host) ? leaf.checkIP(host) : leaf.checkHost(host)) !== undefined;
  } catch (error) {
    if (error instanceof InvalidInputError) return false;
    throw error;
  }
}

/** True when pods are made for a stored certificate, and that has the name. */
function isShown(where: LeafSecret, host: string, { deployment, secrets }: SeenPods): boolean {
  const data = secretText(secrets.get(where.name)?.data);
  const pair = { certificate: data[where.keys.certificate] ?? '', key: data[where.keys.key] ?? '' };
  const label = deployment?.spec?.template.metadata?.labels?.[componentChecksumLabel(where.component)];
  return label === checksum(leafData(where, pair)) && isNamed(pair.certificate, host);
}

/**
 * True when every pod that connections are sent to shows certificates with the names of an endpoint: that of the API server and,
 * with the add-on, that of the konnectivity server. Without a ready pod there is nobody to wait for.
 */
export function arePodsNamed(tcp: TenantControlPlane, endpoint: Endpoint, seen: SeenPods): boolean {
  const { deployment } = seen;
  if (deployment === undefined || (deployment.status?.readyReplicas ?? 0) === 0) return true;
  const hosts: Partial<Record<LeafSecret['leaf'], string>> = {
    apiserver: endpoint.host,
    'konnectivity-server': agentHost(tcp, endpoint),
  };
  const shown = leafSecrets(tcp).flatMap((where) => {
    const host = hosts[where.leaf];
    return host === undefined ? [] : [isShown(where, host, seen)];
  });
  return shown.every(Boolean) && areAllNew(deployment);
}
