import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { stringify } from 'yaml';

import { runCommand } from '../../e2e/cluster/machines/run-command.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';

/** Files of a control plane by name, as kubeadm writes them below `/etc/kubernetes`. */
export interface KubeadmFiles {
  /** `ca.crt`, `apiserver.key` and so on. */
  readonly pki: Readonly<Record<string, string>>;
  /** `super-admin.conf`, `scheduler.conf` and so on. */
  readonly kubeconfigs: Readonly<Record<string, string>>;
}

/** Lets the real kubeadm make the certificates and kubeconfigs of a control plane that is reached at one address. */
export async function kubeadmFiles(kubernetes: string, address: string, port: number): Promise<KubeadmFiles> {
  const { kubeadm } = await resolveTools(['kubeadm'], { kubernetes });
  const folder = await mkdtemp(join(tmpdir(), 'steward-bench-'));
  try {
    const [pki, config] = [join(folder, 'pki'), join(folder, 'kubeadm.yaml')];
    const documents = [
      {
        apiVersion: 'kubeadm.k8s.io/v1beta4',
        kind: 'InitConfiguration',
        localAPIEndpoint: { advertiseAddress: address, bindPort: port },
        nodeRegistration: { name: 'bare', criSocket: 'unix:///run/containerd/containerd.sock' },
      },
      {
        apiVersion: 'kubeadm.k8s.io/v1beta4',
        kind: 'ClusterConfiguration',
        kubernetesVersion: kubernetes,
        certificatesDir: pki,
        controlPlaneEndpoint: `${address}:${port}`,
        encryptionAlgorithm: 'ECDSA-P256',
        apiServer: { certSANs: ['127.0.0.1', 'localhost'] },
        // Without an etcd of its own kubeadm makes no certificates for one.
        etcd: { external: { endpoints: ['https://etcd.invalid:2379'], caFile: '/a', certFile: '/b', keyFile: '/c' } },
      },
    ];
    await writeFile(config, documents.map((document) => stringify(document)).join('---\n'));
    await runCommand(kubeadm, ['init', 'phase', 'certs', 'all', '--config', config]);
    await runCommand(kubeadm, ['init', 'phase', 'kubeconfig', 'all', '--config', config, '--kubeconfig-dir', folder]);
    return { pki: await filesOf(pki, /\.(crt|key|pub)$/), kubeconfigs: await filesOf(folder, /\.conf$/) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function filesOf(folder: string, wanted: RegExp): Promise<Readonly<Record<string, string>>> {
  const names = (await readdir(folder)).filter((name) => wanted.test(name));
  const contents = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return Object.fromEntries(names.map((name, index) => [name, contents[index] ?? '']));
}
