import type { Manifest } from '../../../../api/meta.ts';
import { annotations, dataKeys, tenantObjects } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { checksum } from '../../../../kubeadm/pki/checksum.ts';
import { toYaml } from '../../../../kubeadm/to-yaml.ts';
import { ownedManifest } from '../../shared/owned-manifest.ts';

/** Folder of the socket between kube-apiserver and the konnectivity server of its pod. */
export const konnectivitySocketFolder = '/run/konnectivity';

/** The socket itself. */
export const konnectivitySocket = `${konnectivitySocketFolder}/konnectivity-server.socket`;

/** Folder in which kube-apiserver finds the configuration. */
export const egressFolder = '/etc/kubernetes/konnectivity/configurations';

/** Value of the component label on the ConfigMap, and the pods' checksum label. */
export const egressComponent = 'konnectivity-egress-selector-configuration';

/**
 * Sends the requests of kube-apiserver to nodes, pods and Services through the socket; its datastore and the services of the
 * management cluster are reached directly (https://kubernetes.io/docs/reference/config-api/apiserver-config.v1beta1/).
 */
function egressSelectorConfiguration(): string {
  return toYaml({
    apiVersion: 'apiserver.k8s.io/v1beta1',
    kind: 'EgressSelectorConfiguration',
    egressSelections: [
      {
        name: 'cluster',
        connection: { proxyProtocol: 'GRPC', transport: { uds: { udsName: konnectivitySocket } } },
      },
    ],
  });
}

/** The values of the ConfigMap. */
export function egressData(): Readonly<Record<string, string>> {
  return { [dataKeys.konnectivityEgress]: egressSelectorConfiguration() };
}

/** The ConfigMap that tells kube-apiserver to use the tunnel. */
export function egressConfigMap(tcp: TenantControlPlane): Manifest {
  const data = egressData();
  return ownedManifest(tcp, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: tenantObjects(tcp.metadata.name).konnectivityEgress,
    component: egressComponent,
    annotations: { [annotations.checksum]: checksum(data) },
    body: { data },
  });
}
