import { stringify } from 'yaml';

/** What `kubeadm init` of a management cluster depends on. */
export interface ManagementClusterSettings {
  readonly name: string;
  readonly address: string;
  /** For example `v1.36.3`. */
  readonly kubernetes: string;
  readonly pods: string;
  readonly services: string;
  readonly cgroupVersion: 1 | 2;
}

const criSocket = 'unix:///run/containerd/containerd.sock';

/** kubelet settings that machines need, whatever configures their kubelet (kubelet.config.k8s.io/v1beta1). */
export function machineKubeletConfiguration(cgroupVersion: 1 | 2): Readonly<Record<string, unknown>> {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    // There is no systemd in a machine.
    cgroupDriver: 'cgroupfs',
    ...(cgroupVersion === 1 ? { failCgroupV1: false } : {}),
    failSwapOn: false,
    // The host may lack CAP_SYS_RESOURCE: scores cannot be lowered.
    oomScoreAdj: 0,
    // The disk belongs to the host and is never ours to clean.
    imageGCHighThresholdPercent: 100,
    evictionHard: {
      'memory.available': '100Mi',
      'nodefs.available': '0%',
      'nodefs.inodesFree': '0%',
      'imagefs.available': '0%',
    },
    resolvConf: '/etc/resolv.conf',
  };
}

/** kube-proxy settings that machines need (kubeproxy.config.k8s.io/v1alpha1): conntrack limits belong to the host. */
export function machineKubeProxyConfiguration(): Readonly<Record<string, unknown>> {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    oomScoreAdj: 0,
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  };
}

/**
 * Preflight checks of kubeadm that a machine cannot pass: cgroup v1 is an error for it since 1.35, and before 1.31 it wants
 * crictl, which a node that joins makes no use of.
 */
export const ignoredPreflightErrors = ['SystemVerification', 'FileExisting-crictl'] as const;

/** Go collects garbage a third as often: two processors carry several clusters, and memory is what there is more of. */
const collectLess = { name: 'GOGC', value: '300' } as const;

/** The YAML documents for `kubeadm init --config` of a one-node management cluster (kubeadm.k8s.io/v1beta4). */
export function initDocuments(settings: ManagementClusterSettings): string {
  const { name, address } = settings;
  const documents = [
    {
      apiVersion: 'kubeadm.k8s.io/v1beta4',
      kind: 'InitConfiguration',
      localAPIEndpoint: { advertiseAddress: address, bindPort: 6443 },
      nodeRegistration: {
        criSocket,
        imagePullPolicy: 'Never',
        name,
        taints: [],
        ignorePreflightErrors: ignoredPreflightErrors,
        kubeletExtraArgs: [{ name: 'node-ip', value: address }],
      },
    },
    {
      apiVersion: 'kubeadm.k8s.io/v1beta4',
      kind: 'ClusterConfiguration',
      kubernetesVersion: settings.kubernetes,
      clusterName: name,
      // Fifteen pairs of RSA take seconds to make, and each handshake with one takes a millisecond.
      encryptionAlgorithm: 'ECDSA-P256',
      networking: { podSubnet: settings.pods, serviceSubnet: settings.services, dnsDomain: 'cluster.local' },
      apiServer: { certSANs: [address, name, 'localhost', '127.0.0.1'], extraEnvs: [collectLess] },
      controllerManager: { extraEnvs: [collectLess] },
      scheduler: { extraEnvs: [collectLess] },
      // A management cluster of a test does not outlive its host.
      etcd: { local: { extraArgs: [{ name: 'unsafe-no-fsync', value: 'true' }], extraEnvs: [collectLess] } },
    },
    machineKubeletConfiguration(settings.cgroupVersion),
    machineKubeProxyConfiguration(),
  ];
  return documents.map((document) => stringify(document)).join('---\n');
}
