import type { WebhookConnection } from '../../../api/embedded/webhook-connection.ts';
import { toYaml } from '../../../kubeadm/to-yaml.ts';
import type { WebhookCredentials } from './webhook-credentials.ts';

const name = 'webhook';

/**
 * The file that leads kube-apiserver to a webhook. It is made here and never taken from a user: a kubeconfig can name files and
 * programs of the pod, which holds the keys of the control plane.
 */
export function webhookKubeconfig(
  { url, certificateAuthority }: WebhookConnection,
  credentials: WebhookCredentials | undefined,
): string {
  const authority =
    certificateAuthority === undefined ? undefined : Buffer.from(certificateAuthority).toString('base64');
  return toYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name, cluster: { server: url, ...(authority !== undefined && { 'certificate-authority-data': authority }) } },
    ],
    users: [{ name, user: credentials ?? {} }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  });
}
