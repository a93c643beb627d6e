import type { Deployment, Secret } from '../../../api/core/kinds.ts';
import { componentChecksumLabel } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { isIpAddress } from '../../../kubeadm/networks.ts';
import { parseCertificates } from '../../../kubeadm/pki/certificate-chain.ts';
import { checksum } from '../../../kubeadm/pki/checksum.ts';
import type { Endpoint } from '../shared/control-plane-input.ts';
import { leafData, leafSecrets } from '../certificates/leaf-secrets.ts';
import type { LeafSecret } from '../certificates/leaf-secrets.ts';
import { secretText } from '../shared/secret.ts';

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

/** A stored serving certificate of a program in the pods, and the label that ties pods to its content. */
export interface ServingCertificate {
  readonly component: string;
  readonly checksum: string;
  /** PEM. */
  readonly certificate: string;
  /** The name or address that it must have. */
  readonly host: string;
}

/** What has programs with serving certificates in the pods. */
export interface ServesTls {
  /** The serving certificates of its programs in the pods for clients at an endpoint. */
  serving?(
    tcp: TenantControlPlane,
    endpoint: Endpoint,
    secrets: ReadonlyMap<string, Secret>,
  ): readonly ServingCertificate[];
}

/** The serving certificate that is stored in a Secret. */
export function servingCertificate(where: LeafSecret, host: string, secrets: SeenPods['secrets']): ServingCertificate {
  const data = secretText(secrets.get(where.name)?.data);
  const pair = { certificate: data[where.keys.certificate] ?? '', key: data[where.keys.key] ?? '' };
  return { component: where.component, checksum: checksum(leafData(where, pair)), certificate: pair.certificate, host };
}

/**
 * True when every pod that gets connections serves certificates with the names of an endpoint: that of the API server and those
 * of add-ons. Without a ready pod there is nothing to wait for.
 */
export function arePodsNamed(
  tcp: TenantControlPlane,
  endpoint: Endpoint,
  seen: SeenPods,
  addons: readonly ServesTls[],
): boolean {
  const { deployment, secrets } = seen;
  if (deployment === undefined || (deployment.status?.readyReplicas ?? 0) === 0) return true;
  const labels = deployment.spec?.template.metadata?.labels;
  const shown = [
    ...leafSecrets(tcp).flatMap((where) =>
      where.leaf === 'apiserver' ? [servingCertificate(where, endpoint.host, secrets)] : [],
    ),
    ...addons.flatMap((addon) => addon.serving?.(tcp, endpoint, secrets) ?? []),
  ];
  const areNamed = shown.every(
    ({ component, checksum: sum, certificate, host }) =>
      labels?.[componentChecksumLabel(component)] === sum && isNamed(certificate, host),
  );
  return areNamed && areAllNew(deployment);
}
