import type { Manifest } from '../api/meta.ts';
import { projectLabels } from './manifest-labels.ts';
import { toYaml } from './to-yaml.ts';

/** How a joining node reaches the API server, and which CAs it trusts. */
export interface ClusterInfoInputs {
  /** `https://host:port`. */
  readonly server: string;
  /** PEM of the tenant's CA or CAs. */
  readonly ca: string;
}

/**
 * The ConfigMap `kube-public/cluster-info` for token discovery. It contains only its own key: with server-side apply, the
 * signatures `jws-kubeconfig-*`, which Kubernetes' bootstrapsigner adds to it, stay and are renewed when the kubeconfig changes.
 */
export function clusterInfo({ server, ca }: ClusterInfoInputs): Manifest {
  const cluster = { server, 'certificate-authority-data': Buffer.from(ca, 'utf8').toString('base64') };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'cluster-info', namespace: 'kube-public', labels: projectLabels },
    data: {
      kubeconfig: toYaml({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: '', cluster }],
        contexts: null,
        'current-context': '',
        users: null,
      }),
    },
  };
}
