import { loadKubeconfigFile } from '../runtime/client/load-connection.ts';

/** Where the API server of the management cluster is, as `host:port`: as the environment of a pod says, and as the kubeconfig does. */
export function apiServersOf(
  kubeconfig: string,
  {
    KUBERNETES_SERVICE_HOST: host = '',
    KUBERNETES_SERVICE_PORT: port = '443',
  }: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const ofPod = host === '' ? [] : [`${host.includes(':') ? `[${host}]` : host}:${port}`];
  if (kubeconfig === '') return ofPod;
  const { hostname, port: named } = new URL(loadKubeconfigFile(kubeconfig).server);
  return [...ofPod, `${hostname}:${named === '' ? '443' : named}`];
}
