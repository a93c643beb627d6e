import type { Manifest } from '../../../api/meta.ts';
import { annotations, dataKeys, tenantObjects } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { checksum } from '../../../kubeadm/pki/checksum.ts';
import { ownedManifest } from '../shared/owned-manifest.ts';

/** The two kubeadm documents of a control plane, as plain JSON. */
export interface KubeadmDocuments {
  readonly init: unknown;
  readonly cluster: unknown;
}

/** The ConfigMap that shows administrators how the tenant is configured; nothing reads it back. */
export function kubeadmConfigMap(tcp: TenantControlPlane, documents: KubeadmDocuments): Manifest {
  const data = {
    [dataKeys.kubeadmConfig.init]: JSON.stringify(documents.init),
    [dataKeys.kubeadmConfig.cluster]: JSON.stringify(documents.cluster),
  };
  return ownedManifest(tcp, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: tenantObjects(tcp.metadata.name).kubeadmConfig,
    component: 'kubeadmconfig',
    annotations: { [annotations.checksum]: checksum(data) },
    body: { data },
  });
}
