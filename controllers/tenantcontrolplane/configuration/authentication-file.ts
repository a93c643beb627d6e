import type { Authentication } from '../../../api/embedded/authentication.ts';
import { toYaml } from '../../../kubeadm/to-yaml.ts';

type Jwt = Authentication['jwt'][number];
type Rule = NonNullable<Jwt['userValidationRules']>[number];

/**
 * Names and groups with this prefix belong to Kubernetes. An issuer that could give them could make its users nodes or administrators
 * past RBAC, and bypass the authorization webhooks, which get no requests about the components of Kubernetes.
 */
const reserved: readonly Rule[] = [
  {
    expression: "!user.username.startsWith('system:')",
    message: 'user names with the prefix system: are reserved for Kubernetes',
  },
  {
    expression: "user.groups.all(group, !group.startsWith('system:'))",
    message: 'groups with the prefix system: are reserved for Kubernetes',
  },
];

/** An issuer as kube-apiserver reads it. Several audiences need a policy, of which there is one. */
function authenticator({ issuer, claimValidationRules, claimMappings, userValidationRules = [] }: Jwt): object {
  const own = userValidationRules.filter(({ expression }) => reserved.every((rule) => rule.expression !== expression));
  return {
    issuer: { ...issuer, audienceMatchPolicy: 'MatchAny' },
    ...(claimValidationRules !== undefined && { claimValidationRules }),
    claimMappings,
    userValidationRules: [...reserved, ...own],
  };
}

/**
 * The AuthenticationConfiguration. It says nothing about anonymous requests, so that the health checks of kubelets and the discovery
 * of joining nodes stay as they are.
 */
export function authenticationFile({ jwt }: Authentication, apiVersion: string): string {
  return toYaml({ apiVersion, kind: 'AuthenticationConfiguration', jwt: jwt.map(authenticator) });
}
