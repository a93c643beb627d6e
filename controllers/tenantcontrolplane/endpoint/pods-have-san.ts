import type { Deployment, Secret } from '../../../api/core/kinds.ts';
import { componentChecksumLabel, dataKeys, tenantObjects } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { isIpAddress } from '../../../kubeadm/networks.ts';
import { parseCertificates } from '../../../kubeadm/pki/certificate-chain.ts';
import { checksum } from '../../../kubeadm/pki/checksum.ts';
import type { Endpoint } from '../shared/control-plane-input.ts';
import { agentHost } from '../addons/konnectivity/agent-address.ts';
import { leafData, leafSecrets } from '../certificates/leaf-secrets.ts';
import type { LeafSecret } from '../certificates/leaf-secrets.ts';
import { secretText } from '../shared/secret.ts';
import { trustdPort } from '../addons/worker-bootstrap/trustd-container.ts';
import { trustdChecksum, trustdComponent } from '../addons/worker-bootstrap/trustd-credentials.ts';

/** What shows which certificates the pods serve. */
export interface SeenPods {
  readonly deployment: Deployment | undefined;
  /** By name. */
  readonly secrets: ReadonlyMap<string, Secret>;
}

/** True when no pod of an older revision is left; those that are not ready get no connections. */
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

/** A stored serving certificate, and the label that ties pods to its content. */
interface Shown {
  readonly component: string;
  readonly checksum: string;
  readonly certificate: string;
  /** The name or address that the certificate must have. */
  readonly host: string;
}

function leavesShown(tcp: TenantControlPlane, endpoint: Endpoint, { secrets }: SeenPods): readonly Shown[] {
  const hosts: Partial<Record<LeafSecret['leaf'], string>> = {
    apiserver: endpoint.host,
    'konnectivity-server': agentHost(tcp, endpoint),
  };
  return leafSecrets(tcp).flatMap((where) => {
    const host = hosts[where.leaf];
    if (host === undefined) return [];
    const data = secretText(secrets.get(where.name)?.data);
    const pair = { certificate: data[where.keys.certificate] ?? '', key: data[where.keys.key] ?? '' };
    const sum = checksum(leafData(where, pair));
    return [{ component: where.component, checksum: sum, certificate: pair.certificate, host }];
  });
}

function trustdShown(tcp: TenantControlPlane, { host }: Endpoint, { secrets }: SeenPods): readonly Shown[] {
  if (trustdPort(tcp) === undefined) return [];
  const data = secretText(secrets.get(tenantObjects(tcp.metadata.name ?? '').trustdCredentials)?.data);
  const certificate = data[dataKeys.trustdCredentials.server.certificate] ?? '';
  return [{ component: trustdComponent, checksum: trustdChecksum(data), certificate, host }];
}

/**
 * True when every pod that gets connections serves certificates with the names of an endpoint: that of the API server and, with
 * the add-ons, those of the konnectivity server and of trustd. Without a ready pod there is nothing to wait for.
 */
export function arePodsNamed(tcp: TenantControlPlane, endpoint: Endpoint, seen: SeenPods): boolean {
  const { deployment } = seen;
  if (deployment === undefined || (deployment.status?.readyReplicas ?? 0) === 0) return true;
  const labels = deployment.spec?.template.metadata?.labels;
  const shown = [...leavesShown(tcp, endpoint, seen), ...trustdShown(tcp, endpoint, seen)];
  const areNamed = shown.every(
    ({ component, checksum: sum, certificate, host }) =>
      labels?.[componentChecksumLabel(component)] === sum && isNamed(certificate, host),
  );
  return areNamed && areAllNew(deployment);
}
