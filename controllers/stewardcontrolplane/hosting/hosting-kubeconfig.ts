import type { Secret } from '../../../api/core/kinds.ts';
import type { Connection } from '../../../runtime/client/connection.ts';
import { KubeconfigError } from '../../../api/kubeconfig.ts';
import { parseKubeconfig } from '../../../runtime/client/kubeconfig.ts';

/**
 * The connection to another cluster from the kubeconfig in a Secret. Only inline content is used: a client certificate or a
 * token, and the CA of the server. Plugins would run programs of the author's choice in the manager, and files would be the
 * manager's own, among them its token.
 * @throws KubeconfigError
 */
export function hostingConnection(secret: Secret, key: string): Connection {
  const base64 = secret.data?.[key];
  if (base64 === undefined || base64 === '') {
    const keys = Object.keys(secret.data ?? {}).join(', ');
    throw new KubeconfigError(`it has no key ${key}; its keys are: ${keys === '' ? 'none' : keys}`);
  }
  return parseKubeconfig(Buffer.from(base64, 'base64').toString('utf8'));
}
