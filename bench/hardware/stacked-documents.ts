import { stringify } from 'yaml';

import {
  ignoredPreflightErrors,
  machineKubeletConfiguration,
  machineKubeProxyConfiguration,
} from '../../e2e/cluster/kubeadm-documents.ts';

/** A control plane of kubeadm, with a member of etcd on each of its machines. */
export interface StackedCluster {
  readonly name: string;
  /** For example `v1.36.3`. */
  readonly kubernetes: string;
  /** Host and port of the first server: with others, a load balancer would be before all of them. */
  readonly endpoint: string;
  /** With which the others join: `abcdef.0123456789abcdef`. */
  readonly token: string;
  /** 32 bytes in hexadecimal digits, which encrypt the certificates for the others. */
  readonly certificateKey: string;
  readonly cgroupVersion: 1 | 2;
}

/** One of its machines. */
export interface StackedMember {
  readonly name: string;
  readonly address: string;
}

const port = 6443;

const nodeRegistration = ({ name, address }: StackedMember) => ({
  name,
  criSocket: 'unix:///run/containerd/containerd.sock',
  imagePullPolicy: 'Never',
  ignorePreflightErrors: ignoredPreflightErrors,
  kubeletExtraArgs: [{ name: 'node-ip', value: address }],
});

/**
 * The documents for `kubeadm init` on the first machine: kubeadm's own defaults, besides what machines of the harness need, and
 * the keys that Steward uses by default.
 */
export function initDocuments(cluster: StackedCluster, member: StackedMember): string {
  return documents([
    {
      apiVersion: 'kubeadm.k8s.io/v1beta4',
      kind: 'InitConfiguration',
      localAPIEndpoint: { advertiseAddress: member.address, bindPort: port },
      nodeRegistration: nodeRegistration(member),
      bootstrapTokens: [{ token: cluster.token }],
      certificateKey: cluster.certificateKey,
    },
    {
      apiVersion: 'kubeadm.k8s.io/v1beta4',
      kind: 'ClusterConfiguration',
      kubernetesVersion: cluster.kubernetes,
      clusterName: cluster.name,
      controlPlaneEndpoint: cluster.endpoint,
      encryptionAlgorithm: 'ECDSA-P256',
    },
    machineKubeletConfiguration(cluster.cgroupVersion),
    machineKubeProxyConfiguration(),
  ]);
}

/** The document for `kubeadm join` of one more server with its member of etcd. */
export function joinDocuments(cluster: StackedCluster, member: StackedMember): string {
  return documents([
    {
      apiVersion: 'kubeadm.k8s.io/v1beta4',
      kind: 'JoinConfiguration',
      discovery: {
        bootstrapToken: { apiServerEndpoint: cluster.endpoint, token: cluster.token, unsafeSkipCAVerification: true },
      },
      nodeRegistration: nodeRegistration(member),
      controlPlane: {
        localAPIEndpoint: { advertiseAddress: member.address, bindPort: port },
        certificateKey: cluster.certificateKey,
      },
    },
  ]);
}

function documents(all: readonly object[]): string {
  return all.map((document) => stringify(document)).join('---\n');
}
