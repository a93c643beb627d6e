import type { Manifest } from '../api/meta.ts';
import { defaultImageRepository } from './images.ts';
import { projectLabels } from './manifest-labels.ts';
import type { EncryptionAlgorithm } from './pki/key-pair.ts';
import { toYaml } from './to-yaml.ts';
import type { KubernetesVersion } from './versions.ts';
import { versionText } from './versions.ts';

/** Where kubeadm keeps certificates on a node. */
export const certificatesDir = '/etc/kubernetes/pki';

/** The inputs of a tenant's ClusterConfiguration. */
export interface ClusterConfigurationInputs {
  readonly clusterName: string;
  readonly version: KubernetesVersion;
  /** `host:port`. */
  readonly controlPlaneEndpoint: string;
  /** One network, or two joined by a comma. */
  readonly serviceCidr: string;
  readonly podCidr: string;
  readonly clusterDomain: string;
  /** See `apiServerCertSANs`. */
  readonly certSANs: readonly string[];
  /** URLs, or `host:port` for https; informational, since kubeadm does not run the tenant's API server. */
  readonly etcdEndpoints: readonly string[];
  readonly encryptionAlgorithm: EncryptionAlgorithm;
  /** Flags of the API server without leading dashes; informational, since its Deployment is not kubeadm's. */
  readonly apiServerArgs?: Readonly<Record<string, string>>;
}

/** The inputs of the names in the API server's certificate. */
export interface CertSANsInputs {
  readonly name: string;
  readonly namespace: string;
  /** The address that the API server advertises. */
  readonly advertiseAddress: string;
  readonly clusterDomain: string;
  /** `networkProfile.certSANs`. */
  readonly certSANs: readonly string[];
}

/**
 * The ClusterConfiguration's `apiServer.certSANs`, without duplicates: loopback, the tenant's Service in the management cluster,
 * its address, the names inside the tenant, and the author's.
 */
export function apiServerCertSANs(inputs: CertSANsInputs): readonly string[] {
  const service = `${inputs.name}.${inputs.namespace}.svc`;
  const names = [
    '127.0.0.1',
    'localhost',
    inputs.name,
    service,
    `${service}.cluster.local`,
    inputs.advertiseAddress,
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    `kubernetes.default.svc.${inputs.clusterDomain}`,
    ...inputs.certSANs,
  ];
  return [...new Set(names)];
}

/** kubeadm has supported v1beta4 since 1.31; a node joins with a kubeadm of its own minor, so older tenants keep v1beta3. */
function knowsV1beta4({ minor }: KubernetesVersion): boolean {
  return minor >= 31;
}

/** kubeadm's names; it has supported P-384 since 1.34, and the field only affects certificates that kubeadm itself issues. */
function algorithmOf({ version, encryptionAlgorithm }: ClusterConfigurationInputs): EncryptionAlgorithm {
  return encryptionAlgorithm === 'ECDSA-P384' && version.minor < 34 ? 'ECDSA-P256' : encryptionAlgorithm;
}

function externalEtcd({ version, etcdEndpoints }: ClusterConfigurationInputs): Record<string, unknown> {
  // kubeadm refuses the whole document if an endpoint has no scheme.
  const endpoints = etcdEndpoints.map((endpoint) => (endpoint.includes('://') ? endpoint : `https://${endpoint}`));
  const external = { endpoints, caFile: '', certFile: '', keyFile: '' };
  return version.minor >= 35 ? { ...external, httpEndpoints: endpoints } : external;
}

/** The tenant's ClusterConfiguration as kubeadm of its minor writes it: `kubeadm.k8s.io/v1beta4`, before 1.31 v1beta3. */
export function clusterConfiguration(inputs: ClusterConfigurationInputs): Readonly<Record<string, unknown>> {
  const args = Object.entries(inputs.apiServerArgs ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const beta4 = knowsV1beta4(inputs.version);
  const extraArgs = beta4 ? args.map(([name, value]) => ({ name, value })) : Object.fromEntries(args);
  const common = {
    kind: 'ClusterConfiguration',
    certificatesDir,
    clusterName: inputs.clusterName,
    controlPlaneEndpoint: inputs.controlPlaneEndpoint,
    controllerManager: {},
    dns: {},
    etcd: { external: externalEtcd(inputs) },
    imageRepository: defaultImageRepository,
    kubernetesVersion: versionText(inputs.version),
    networking: {
      dnsDomain: inputs.clusterDomain,
      podSubnet: inputs.podCidr,
      serviceSubnet: inputs.serviceCidr,
    },
    scheduler: {},
  };
  const { certSANs } = inputs;
  const apiServer = { ...(certSANs.length === 0 ? {} : { certSANs }), ...(args.length === 0 ? {} : { extraArgs }) };
  return beta4
    ? {
        ...common,
        apiVersion: 'kubeadm.k8s.io/v1beta4',
        apiServer,
        caCertificateValidityPeriod: '87600h0m0s',
        certificateValidityPeriod: '8760h0m0s',
        encryptionAlgorithm: algorithmOf(inputs),
        proxy: {},
      }
    : { ...common, apiVersion: 'kubeadm.k8s.io/v1beta3', apiServer: { ...apiServer, timeoutForControlPlane: '4m0s' } };
}

/** The ConfigMap `kube-system/kubeadm-config`, which `kubeadm join` and `kubeadm upgrade node` read. */
export function kubeadmConfig(inputs: ClusterConfigurationInputs): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kubeadm-config', namespace: 'kube-system', labels: projectLabels },
    data: { ClusterConfiguration: toYaml(clusterConfiguration(inputs)) },
  };
}
