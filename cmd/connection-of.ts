import type { Connection } from '../runtime/client/connection.ts';
import { inClusterConnection, loadKubeconfigFile } from '../runtime/client/load-connection.ts';
import { UsageError } from './flags/flags.ts';

/**
 * How the management cluster is reached: by the kubeconfig, or else as the pod that this is.
 * @throws UsageError when there is neither.
 */
export function connectionOf(
  kubeconfig: string,
  environment: Readonly<Record<string, string | undefined>>,
): Connection {
  if (kubeconfig !== '') return loadKubeconfigFile(kubeconfig);
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = environment;
  if (host === '') throw new UsageError('not running in a pod of a cluster: set --kubeconfig');
  return inClusterConnection(host, port);
}
