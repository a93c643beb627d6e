import { stringify } from 'yaml';
import type { ApiServer } from '../servers/api-server.ts';

/** A kubeconfig that acts as a ServiceAccount, such as the manager's, with a client certificate in place of a token. */
export async function accountKubeconfig(server: ApiServer, namespace: string, account: string): Promise<string> {
  const { certificate, key } = await server.clientPair(`system:serviceaccount:${namespace}:${account}`, [
    ...['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
  ]);
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const user = { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) };
  return stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'manager' },
    clusters: [
      { name: 'management', cluster: { server: server.url, 'certificate-authority-data': base64(server.ca) } },
    ],
    users: [{ name: 'manager', user }],
    contexts: [{ name: 'manager', context: { cluster: 'management', user: 'manager' } }],
  });
}
