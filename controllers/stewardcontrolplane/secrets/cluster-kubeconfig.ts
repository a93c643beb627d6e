import { KubeconfigError } from '../../../api/kubeconfig.ts';
import { kubeconfig, parseKubeconfig } from '../../../kubeadm/kubeconfig.ts';
import type { Kubeconfig } from '../../../kubeadm/kubeconfig.ts';

/**
 * The kubeconfig of a tenant under the names that Cluster API uses, so that those of several Clusters can be merged: cluster
 * `<cluster>`, user `<cluster>-admin`, context `<cluster>-admin@<cluster>`. One that says more or less than kubeadm's, which an
 * author may have chosen, stays as it is. Base64 in and out.
 */
export function clusterKubeconfig(encoded: string, cluster: string): string {
  const found = contentOf(Buffer.from(encoded, 'base64').toString('utf8'));
  if (found === undefined) return encoded;
  const named = kubeconfig({ ...found, clusterName: cluster, user: `${cluster}-admin` });
  return Buffer.from(named, 'utf8').toString('base64');
}

function contentOf(text: string): Kubeconfig | undefined {
  try {
    const found = parseKubeconfig(text);
    const { certificate, key } = found.client;
    return [found.server, found.ca, certificate, key].includes('') ? undefined : found;
  } catch (error) {
    if (error instanceof KubeconfigError) return undefined;
    throw error;
  }
}
