import type { Manifest } from '../../../api/meta.ts';
import { dataKeys, tenantObjects, tenantUsers } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { KeyPair, Profile } from '../../../kubeadm/pki/key-pair.ts';
import { secret } from '../shared/secret.ts';

/** Value of the component label on the Secret. */
export const monitoringCertificateComponent = 'monitoring-certificate';

/**
 * The identity of Prometheus inside a tenant. Kubernetes binds the group to a ClusterRole of the same name, which may read metrics and
 * health and nothing else; kube-controller-manager and kube-scheduler have the API server of the tenant authorize requests.
 */
export const monitoringProfile: Profile = {
  commonName: tenantUsers.monitoring,
  organizations: ['system:monitoring'],
  usages: ['clientAuth'],
};

/** The Secret from which Prometheus gets the certificate, and the CAs with which it verifies the API server. */
export function monitoringSecret(
  tcp: TenantControlPlane,
  { pair, authority }: { readonly pair: KeyPair; readonly authority: string },
  rotated: string | undefined,
): Manifest {
  const keys = dataKeys.monitoringCertificate;
  return secret(tcp, {
    name: tenantObjects(tcp.metadata.name).monitoringCertificate,
    component: monitoringCertificateComponent,
    data: { [keys.certificate]: pair.certificate, [keys.key]: pair.key, [keys.authority]: authority },
    lifecycle: 'x509',
    type: 'kubernetes.io/tls',
    rotated,
  });
}
