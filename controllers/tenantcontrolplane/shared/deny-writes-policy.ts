import type { Manifest } from '../../../api/meta.ts';
import { labels, project } from '../../../api/names.ts';

/** API version of admission policies, and of webhook configurations. */
export const admissionVersion = 'admissionregistration.k8s.io/v1';

/** What a policy denies in a tenant. */
export interface DeniedWrites {
  readonly name: string;
  readonly operations: readonly string[];
  /** The policy applies to a request only if all of these hold. */
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
  /** The message for clients whose write is denied. */
  readonly message: string;
}

/**
 * The policy that denies writes inside a tenant to all users and in every namespace, including subresources such as scale, binding
 * and eviction; and its binding. Requests that store nothing are allowed: reviews of tokens and of access, and issuing
 * service-account tokens. Kubernetes exempts policies themselves, so writes can always be allowed again. Administrators of the
 * tenant can change both as well: they are applied exactly, and contain the API server's defaults for this reason.
 */
export function denyWritesManifests(denied: DeniedWrites): readonly [policy: Manifest, binding: Manifest] {
  const { name, operations, matchConditions, message } = denied;
  const metadata = { name, labels: { [labels.project]: project } };
  const everything = { apiGroups: ['*'], apiVersions: ['*'], scope: '*' };
  const reviews = ['authentication.k8s.io', 'authorization.k8s.io'];
  const policy: Manifest = {
    apiVersion: admissionVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        resourceRules: [{ ...everything, operations, resources: ['*/*'] }],
        excludeResourceRules: [
          { ...everything, apiGroups: reviews, operations: ['CREATE'], resources: ['*'] },
          { ...everything, apiGroups: [''], operations: ['CREATE'], resources: ['serviceaccounts/token'] },
        ],
      },
      matchConditions,
      validations: [{ expression: 'false', message, reason: 'Forbidden' }],
    },
  };
  const binding: Manifest = {
    apiVersion: admissionVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata,
    spec: { policyName: name, validationActions: ['Deny'] },
  };
  return [policy, binding];
}
