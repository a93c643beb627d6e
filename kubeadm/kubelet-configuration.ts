import type { Manifest } from '../api/meta.ts';
import { certificatesDir } from './cluster-configuration.ts';
import { InvalidInputError } from './invalid-input-error.ts';
import { applyJsonPatches } from './json-patch.ts';
import type { JsonPatchOperation } from './json-patch.ts';
import { kubeletDefaults } from './kubelet-defaults.ts';
import { projectLabels } from './manifest-labels.ts';
import { dnsServiceIps } from './networks.ts';
import { toYaml } from './to-yaml.ts';
import type { KubernetesVersion } from './versions.ts';

/** The inputs of the configuration of a tenant's kubelets. */
export interface KubeletInputs {
  readonly version: KubernetesVersion;
  readonly clusterDomain: string;
  readonly serviceCidr: string;
  /** Empty or absent: the tenth address of the service network. */
  readonly dnsServiceIPs?: readonly string[];
  /** Absent: systemd, as in kubeadm. */
  readonly cgroupDriver?: 'systemd' | 'cgroupfs' | undefined;
  /** `kubernetes.kubelet.configurationJSONPatches`, applied last. */
  readonly patches?: readonly JsonPatchOperation[];
}

/**
 * The KubeletConfiguration (kubelet.config.k8s.io/v1beta1): kubeadm's settings over the kubelet's defaults of the tenant's minor,
 * all explicit so that patches find the fields that they change or remove. Throws `InvalidInputError` for a patch that cannot be
 * applied.
 */
export function kubeletConfiguration(inputs: KubeletInputs): Readonly<Record<string, unknown>> {
  const apiVersion = 'kubelet.config.k8s.io/v1beta1';
  const kind = 'KubeletConfiguration';
  const { authentication, ...defaults } = kubeletDefaults(inputs.version);
  const unpatched = {
    apiVersion,
    kind,
    ...defaults,
    authentication: { ...authentication, x509: { clientCAFile: `${certificatesDir}/ca.crt` } },
    cgroupDriver: inputs.cgroupDriver ?? 'systemd',
    clusterDNS: dnsServiceIps(inputs.serviceCidr, inputs.dnsServiceIPs),
    clusterDomain: inputs.clusterDomain,
    rotateCertificates: true,
    staticPodPath: '/etc/kubernetes/manifests',
  };
  const field = 'configurationJSONPatches';
  const patched = applyJsonPatches(unpatched, inputs.patches ?? [], field);
  if (patched.apiVersion !== apiVersion || patched.kind !== kind) {
    const remedy = `leave apiVersion ${apiVersion} and kind ${kind} as they are`;
    throw new InvalidInputError({ field, reason: 'change the apiVersion or kind of the document', remedy });
  }
  return patched;
}

/** The ConfigMap `kube-system/kubelet-config`, which `kubeadm join` and `kubeadm upgrade node` read. Throws as `kubeletConfiguration` does. */
export function kubeletConfig(inputs: KubeletInputs): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kubelet-config', namespace: 'kube-system', labels: projectLabels },
    data: { kubelet: toYaml(kubeletConfiguration(inputs)) },
  };
}
