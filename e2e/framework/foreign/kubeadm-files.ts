import { stringify } from 'yaml';

import type { ManagementCluster } from '../../cluster/management-cluster.ts';

/** The files that kubeadm makes for a control plane, by name; both managers issue them with its library. */
export interface KubeadmFiles {
  readonly pki: Readonly<Record<string, string>>;
  readonly kubeconfigs: Readonly<Record<string, string>>;
  /** Runs another phase of `kubeadm init` against the control plane, as its super-admin. */
  readonly phase: (...words: readonly string[]) => Promise<void>;
}

const certificates = [
  'ca',
  'apiserver',
  'apiserver-kubelet-client',
  'front-proxy-ca',
  'front-proxy-client',
  'sa',
] as const;
const kubeconfigs = ['admin', 'super-admin', 'controller-manager', 'scheduler'] as const;

/** Lets the kubeadm of the machine make CAs, certificates and kubeconfigs of a control plane at this address. */
export async function kubeadmFiles(
  cluster: ManagementCluster,
  of: { readonly namespace: string; readonly name: string; readonly version: string; readonly address: string },
): Promise<KubeadmFiles> {
  const { machine, network } = cluster;
  const { namespace, name, version, address } = of;
  const folder = `/run/foreign/${namespace}-${name}`;
  const config = `${folder}/config.yaml`;
  await machine.exec(['mkdir', '-p', `${folder}/pki`]);
  const documents = [
    {
      ...{ apiVersion: 'kubeadm.k8s.io/v1beta4', kind: 'InitConfiguration' },
      localAPIEndpoint: { advertiseAddress: address, bindPort: 6443 },
      nodeRegistration: { name: 'node', criSocket: 'unix:///run/containerd/containerd.sock' },
    },
    {
      ...{ apiVersion: 'kubeadm.k8s.io/v1beta4', kind: 'ClusterConfiguration' },
      kubernetesVersion: version,
      clusterName: name,
      controlPlaneEndpoint: `${address}:6443`,
      certificatesDir: `${folder}/pki`,
      encryptionAlgorithm: 'RSA-2048',
      networking: { dnsDomain: 'cluster.local', serviceSubnet: network.services, podSubnet: network.pods },
      etcd: { external: { endpoints: ['https://127.0.0.1:2379'], caFile: '/ca', certFile: '/cert', keyFile: '/key' } },
      apiServer: {
        certSANs: [
          '127.0.0.1',
          'localhost',
          name,
          `${name}.${namespace}.svc`,
          `${name}.${namespace}.svc.cluster.local`,
        ],
      },
    },
  ];
  await machine.writeFile(config, documents.map((document) => stringify(document)).join('---\n'));
  const phase = async (...words: readonly string[]): Promise<void> => {
    await machine.exec(['kubeadm', 'init', 'phase', ...words, '--config', config], { timeoutMs: 120_000 });
  };
  for (const certificate of certificates) {
    await (certificate === 'sa'
      ? machine.exec(['kubeadm', 'init', 'phase', 'certs', 'sa', '--cert-dir', `${folder}/pki`])
      : phase('certs', certificate));
  }
  for (const kubeconfig of kubeconfigs) await phase('kubeconfig', kubeconfig, '--kubeconfig-dir', folder);
  const read = async (files: readonly string[]): Promise<Record<string, string>> => {
    const contents = await Promise.all(files.map((file) => machine.readFile(`${folder}/${file}`)));
    return Object.fromEntries(files.map((file, at) => [file.replace('pki/', ''), contents[at] ?? '']));
  };
  const pairs = certificates.flatMap((each) =>
    (each === 'sa' ? ['sa.pub', 'sa.key'] : [`${each}.crt`, `${each}.key`]).map((file) => `pki/${file}`),
  );
  return {
    pki: await read(pairs),
    kubeconfigs: await read(kubeconfigs.map((each) => `${each}.conf`)),
    phase: (...words) => phase(...words, '--kubeconfig', `${folder}/super-admin.conf`),
  };
}
