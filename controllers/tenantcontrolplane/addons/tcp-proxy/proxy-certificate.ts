import type { Manifest } from '../../../../api/meta.ts';
import { dataKeys, tenantObjects } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { addressAt, parseCidrs } from '../../../../kubeadm/networks.ts';
import type { KeyPair, Profile } from '../../../../kubeadm/pki/key-pair.ts';
import { secret } from '../../shared/secret.ts';
import { tenantNetworks } from '../../shared/tenant-networks.ts';

/** The serving certificate of the proxy, and the CAs by which it verifies the API server. */
export interface ProxyTls {
  readonly pair: KeyPair;
  /** PEM of the tenant's authorities. */
  readonly authority: string;
}

/** Value of the component label on the Secret in the management cluster. */
export const proxyCertificateComponent = 'tcp-proxy-certificate';

/**
 * A serving certificate for the names and addresses of the Service `kubernetes` only: its key does not let anyone impersonate the
 * control plane outside the tenant. Throws `InvalidInputError` for an invalid network.
 */
export function proxyProfile({ spec }: TenantControlPlane): Profile {
  const { clusterDomain } = spec.networkProfile;
  const { services } = tenantNetworks({ spec });
  const base = 'kubernetes.default.svc';
  return {
    commonName: 'steward-tcp-proxy',
    usages: ['serverAuth'],
    dnsNames: ['kubernetes', 'kubernetes.default', base, `${base}.${clusterDomain}`],
    ipAddresses: parseCidrs(services.value, services.field).map((network) => addressAt(network, 1n, services.field)),
  };
}

/** The values of both Secrets that hold it. */
export function proxyTlsData({ pair, authority }: ProxyTls): Readonly<Record<string, string>> {
  const keys = dataKeys.tcpProxyCertificate;
  return { [keys.certificate]: pair.certificate, [keys.key]: pair.key, [keys.authority]: authority };
}

/** The Secret that keeps it in the management cluster. */
export function proxyCertificateSecret(tcp: TenantControlPlane, tls: ProxyTls, rotated: string | undefined): Manifest {
  return secret(tcp, {
    name: tenantObjects(tcp.metadata.name).tcpProxyCertificate,
    component: proxyCertificateComponent,
    data: proxyTlsData(tls),
    lifecycle: 'x509',
    type: 'kubernetes.io/tls',
    rotated,
  });
}
