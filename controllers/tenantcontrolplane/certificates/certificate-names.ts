import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { apiServerCertSANs } from '../../../kubeadm/cluster-configuration.ts';
import type { Endpoint } from '../shared/control-plane-input.ts';

/** What may add names to the certificate of the API server. */
export interface ApiServerNames {
  /** Further names for the certificate of the API server. */
  apiServerNames?(tcp: TenantControlPlane, endpoint: Endpoint): readonly string[];
}

/** The inputs of the names: they are the same in every version. */
export interface CertificateNamesInput {
  readonly tcp: TenantControlPlane;
  readonly endpoint: Endpoint;
  readonly addons: readonly ApiServerNames[];
}

/** All names of the API server's certificate, as kubeadm's documents list them. Throws `InvalidInputError`. */
export function certificateNames({ tcp, endpoint, addons }: CertificateNamesInput): readonly string[] {
  const { clusterDomain, certSANs = [], address = '', advertiseAddress = '' } = tcp.spec.networkProfile;
  const { name, namespace } = tcp.metadata;
  const inner = addons.flatMap((addon) => addon.apiServerNames?.(tcp, endpoint) ?? []);
  // Clients near the Service use its address, regardless of the advertised one.
  const near = address !== '' && advertiseAddress !== '' ? [address] : [];
  const names = [...certSANs, ...inner, ...near];
  return apiServerCertSANs({ name, namespace, advertiseAddress: endpoint.address, clusterDomain, certSANs: names });
}
