import { toYaml } from '../../../kubeadm/to-yaml.ts';

/** What a worker needs in order to join. */
export interface JoinInputs {
  /** `host:port` of the API server. */
  readonly endpoint: string;
  /** `id.secret` of a bootstrap token. */
  readonly token: string;
  /** Discovery hashes of the CAs. */
  readonly caCertHashes: readonly string[];
  /** Minor of Kubernetes 1 that the control plane runs. */
  readonly minor: number;
}

/** The command that joins a worker. */
export function joinCommandLine({ endpoint, token, caCertHashes }: JoinInputs): string {
  const hashes = caCertHashes.map((hash) => `--discovery-token-ca-cert-hash ${hash}`);
  return ['kubeadm join', endpoint, `--token ${token}`, ...hashes].join(' ');
}

/** kubeadm reads v1beta4 from 1.31 on. */
const configurationVersion = (minor: number): string => `kubeadm.k8s.io/${minor >= 31 ? 'v1beta4' : 'v1beta3'}`;

const configurationFile = '/run/kubeadm/join.yaml';

/** User data for cloud-init that joins a worker whose image has kubeadm, kubelet and a container runtime. */
export function joinUserData(inputs: JoinInputs): string {
  const { endpoint, token, caCertHashes, minor } = inputs;
  const configuration = toYaml({
    apiVersion: configurationVersion(minor),
    kind: 'JoinConfiguration',
    discovery: { bootstrapToken: { apiServerEndpoint: endpoint, token, caCertHashes } },
  });
  const data = {
    write_files: [{ path: configurationFile, owner: 'root:root', permissions: '0600', content: configuration }],
    // The token is not left on the worker.
    runcmd: [`kubeadm join --config ${configurationFile} && rm -f ${configurationFile}`],
  };
  return `#cloud-config\n${toYaml(data)}`;
}
