import type { WebhookConnection } from '../../../api/embedded/webhook-connection.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/** A webhook of kube-apiserver in the spec. */
export interface ConfiguredWebhook {
  /** Its field. */
  readonly at: string;
  /** The file that leads to it. */
  readonly file: string;
  readonly connection: WebhookConnection;
}

/** Name of the file that leads kube-apiserver to an authorization webhook. */
export const authorizationKubeconfig = (name: string): string => `authorization-${name}.kubeconfig`;

/** Name of the file that leads kube-apiserver to the audit webhook. */
export const auditKubeconfig = 'audit-webhook.kubeconfig';

/** All webhooks that the spec configures in kube-apiserver. */
export function configuredWebhooks({ spec }: Pick<TenantControlPlane, 'spec'>): readonly ConfiguredWebhook[] {
  const { authorization, audit } = spec.kubernetes;
  const authorizers = (authorization?.webhooks ?? []).map((webhook, index) => ({
    at: `spec.kubernetes.authorization.webhooks[${index}]`,
    file: authorizationKubeconfig(webhook.name),
    connection: webhook,
  }));
  if (audit?.webhook === undefined) return authorizers;
  return [...authorizers, { at: 'spec.kubernetes.audit.webhook', file: auditKubeconfig, connection: audit.webhook }];
}

/** The names of the Secrets with credentials for webhooks, each once. */
export function webhookSecrets(tcp: Pick<TenantControlPlane, 'spec'>): readonly string[] {
  const names = configuredWebhooks(tcp).flatMap(({ connection }) => connection.credentialsSecretRef?.name ?? []);
  return [...new Set(names)];
}
