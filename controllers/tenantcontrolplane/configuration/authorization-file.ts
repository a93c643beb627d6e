import type { Authorization, AuthorizationWebhook } from '../../../api/embedded/authorization.ts';
import { toYaml } from '../../../kubeadm/to-yaml.ts';
import { authorizationKubeconfig } from './webhooks.ts';

/** Names of the authorizers that are always in force. */
export const builtInAuthorizers = ['node', 'rbac'] as const;

/**
 * A webhook gets no requests about the components of Kubernetes: nodes, bootstrap tokens, the programs of the control plane, anonymous
 * health checks, and the service accounts in kube-system. The manager is a member of `system:masters`, for which kube-apiserver calls no
 * authorizer. So a webhook that denies everything, or never answers, stops users and their programs alone. One condition that is
 * false is enough, even if others fail.
 */
export const askedAbout: readonly string[] = [
  "!request.user.startsWith('system:') || request.user.startsWith('system:serviceaccount:')",
  "!('system:serviceaccounts:kube-system' in request.groups)",
];

function authorizer(webhook: AuthorizationWebhook, folder: string): object {
  const { name, matchConditions = [] } = webhook;
  const own = matchConditions.filter(({ expression }) => !askedAbout.includes(expression));
  return {
    type: 'Webhook',
    name,
    webhook: {
      authorizedTTL: webhook.authorizedTTL ?? '5m',
      unauthorizedTTL: webhook.unauthorizedTTL ?? '30s',
      timeout: `${webhook.timeoutSeconds ?? 3}s`,
      subjectAccessReviewVersion: 'v1',
      matchConditionSubjectAccessReviewVersion: 'v1',
      failurePolicy: webhook.failurePolicy ?? 'NoOpinion',
      connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: `${folder}/${authorizationKubeconfig(name)}` },
      matchConditions: [...askedAbout.map((expression) => ({ expression })), ...own],
    },
  };
}

/** The AuthorizationConfiguration, with the kubeconfigs of webhooks in `folder`. Nodes are authorized before all others. */
export function authorizationFile({ webhooks }: Authorization, apiVersion: string, folder: string): string {
  const [node, rbac] = builtInAuthorizers;
  const placed = (position: string): readonly object[] =>
    webhooks
      .filter((webhook) => (webhook.position ?? 'AfterRBAC') === position)
      .map((webhook) => authorizer(webhook, folder));
  return toYaml({
    apiVersion,
    kind: 'AuthorizationConfiguration',
    authorizers: [
      { type: 'Node', name: node },
      ...placed('BeforeRBAC'),
      { type: 'RBAC', name: rbac },
      ...placed('AfterRBAC'),
    ],
  });
}
