import type { Connection } from '../runtime/connection.ts';
import { inClusterConnection, loadKubeconfigFile } from '../runtime/load-connection.ts';
import { UsageError } from './flags.ts';

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
  if (host === '') throw new UsageError('this is no pod of a cluster: give --kubeconfig');
  return inClusterConnection(host, port);
}
