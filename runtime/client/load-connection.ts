import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isIPv6 } from 'node:net';
import type { Connection } from './connection.ts';
import { KubeconfigError } from '../../api/kubeconfig.ts';
import { parseKubeconfig } from './kubeconfig.ts';

/** Where a pod finds its own credentials. */
export const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Reads a kubeconfig file; files it names are looked up beside it. Throws `KubeconfigError` with the file's path.
 */
export function loadKubeconfigFile(path: string, context?: string): Connection {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new KubeconfigError(`kubeconfig ${path}: cannot be read`, { cause: error });
  }
  const here = dirname(resolve(path));
  const connection = parseKubeconfig(text, {
    context,
    readFile: (file) => readFileSync(resolve(here, file), 'utf8'),
  });
  return connection.tokenFile === undefined
    ? connection
    : { ...connection, tokenFile: resolve(here, connection.tokenFile) };
}

/**
 * The connection of a pod to its own cluster. `host` and `port` come from KUBERNETES_SERVICE_HOST and _PORT. The token is
 * read again as it rotates; the CA is read once. Throws `KubeconfigError` when this is not a pod with a service account.
 */
export function inClusterConnection(
  host: string,
  port: string,
  directory: string = serviceAccountDirectory,
): Connection {
  const caFile = `${directory}/ca.crt`;
  try {
    const ca = readFileSync(caFile, 'utf8');
    return { server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`, ca, tokenFile: `${directory}/token` };
  } catch (error) {
    throw new KubeconfigError(
      `in-cluster configuration: cannot read ${caFile}; does the pod mount a service-account token?`,
      { cause: error },
    );
  }
}
