import type { Manifest } from '../../../api/meta.ts';
import { bootstrapRbac } from '../../../kubeadm/bootstrap-rbac.ts';
import { clusterConfiguration, kubeadmConfig } from '../../../kubeadm/cluster-configuration.ts';
import type { ClusterConfigurationInputs } from '../../../kubeadm/cluster-configuration.ts';
import { clusterInfo } from '../../../kubeadm/cluster-info.ts';
import { kubeletConfig } from '../../../kubeadm/kubelet-configuration.ts';
import { joinHostPort } from '../../../kubeadm/networks.ts';
import type { KubernetesVersion } from '../../../kubeadm/versions.ts';
import type { StoreBinding } from '../../../stores/driver.ts';
import { compactionInterval } from '../datastore/compaction-interval.ts';
import type { Endpoint } from '../shared/control-plane-input.ts';
import { tenantNetworks } from '../shared/tenant-networks.ts';
import { certificateNames } from '../certificates/certificate-names.ts';
import type { CertificateNamesInput } from '../certificates/certificate-names.ts';
import type { KubeadmDocuments } from './kubeadm-config-map.ts';

/** The inputs of the documents inside and about a tenant. */
export interface DocumentInput extends CertificateNamesInput {
  /** The version that the tenant gets. */
  readonly version: KubernetesVersion;
}

const endpointText = ({ host, hostPort }: Endpoint): string => joinHostPort(host, hostPort);

function clusterInputs(input: DocumentInput, store: StoreBinding | undefined): ClusterConfigurationInputs {
  const { tcp, endpoint, version } = input;
  const { clusterDomain } = tcp.spec.networkProfile;
  const { services, pods } = tenantNetworks(tcp);
  const etcd = store?.kind === 'etcd' ? store.endpoints : ['127.0.0.1:2379'];
  return {
    clusterName: tcp.metadata.name,
    version,
    controlPlaneEndpoint: endpointText(endpoint),
    serviceCidr: services.value,
    podCidr: pods.value,
    clusterDomain,
    certSANs: certificateNames(input),
    etcdEndpoints: etcd,
    encryptionAlgorithm: tcp.spec.kubernetes.encryptionAlgorithm ?? 'ECDSA-P256',
    ...(store?.kind === 'etcd' && {
      apiServerArgs: { 'etcd-compaction-interval': compactionInterval(version), 'etcd-prefix': store.prefix },
    }),
  };
}

/** kubeadm's documents about a tenant, for administrators of the management cluster. */
export function kubeadmDocuments(input: DocumentInput, store: StoreBinding): KubeadmDocuments {
  const cluster = clusterConfiguration(clusterInputs(input, store));
  const { address, port } = input.endpoint;
  const init = {
    apiVersion: cluster.apiVersion,
    kind: 'InitConfiguration',
    localAPIEndpoint: { advertiseAddress: address, bindPort: port },
  };
  return { init, cluster };
}

/**
 * The inputs of kubeadm's documents inside the tenant, which must not reveal its datastore or the Service of the management
 * cluster. Joining nodes read neither; kubeadm itself only needs some etcd to be named.
 */
function tenantInputs(input: DocumentInput): ClusterConfigurationInputs {
  const { name, namespace } = input.tcp.metadata;
  const service = `${name}.${namespace}.svc`;
  const inputs = clusterInputs(input, undefined);
  return {
    ...inputs,
    certSANs: inputs.certSANs.filter((san) => san !== service && !san.startsWith(`${service}.`)),
  };
}

/** The objects that kubeadm creates in a cluster for joining nodes and for administrators. Throws `InvalidInputError`. */
export function bootstrapDocuments(
  input: DocumentInput,
  facts: { readonly ca: string },
): { readonly manifests: readonly Manifest[]; readonly clusterInfo: Manifest } {
  const { tcp, endpoint, version } = input;
  const { clusterDomain, dnsServiceIPs } = tcp.spec.networkProfile;
  const { kubelet } = tcp.spec.kubernetes;
  const info = clusterInfo({ server: `https://${endpointText(endpoint)}`, ca: facts.ca });
  const kubeletDocument = kubeletConfig({
    version,
    clusterDomain,
    serviceCidr: tenantNetworks(tcp).services.value,
    dnsServiceIPs,
    cgroupDriver: kubelet.cgroupfs,
    patches: kubelet.configurationJSONPatches ?? [],
  });
  const config = kubeadmConfig(tenantInputs(input));
  return { manifests: [config, kubeletDocument, info, ...bootstrapRbac()], clusterInfo: info };
}
