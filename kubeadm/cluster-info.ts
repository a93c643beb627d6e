import type { Manifest } from '../api/meta.ts';
import { projectLabels } from './manifest-labels.ts';
import { toYaml } from './to-yaml.ts';

/** Where a joining node finds the API server, and whom it should trust. */
export interface ClusterInfoInputs {
  /** `https://host:port`. */
  readonly server: string;
  /** PEM of the tenant's CA or CAs. */
  readonly ca: string;
}

/**
 * The ConfigMap `kube-public/cluster-info` for token discovery. It names only its own key: applied by server-side apply, the
 * signatures `jws-kubeconfig-*`, which Kubernetes' bootstrapsigner keeps beside it, stay and are renewed when the kubeconfig changes.
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
