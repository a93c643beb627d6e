import type { Audit } from '../../../api/embedded/audit.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { isSubdomain } from './dns-names.ts';
import { validateAuthority } from './validate-authority.ts';

type Rule = Audit['policy']['rules'][number];

const at = 'spec.kubernetes.audit';

function validatePath(value: string, field: string): readonly InvalidInput[] {
  if (value === '*') return [];
  if (!value.startsWith('/'))
    return [{ field, value, reason: 'is not a path', remedy: 'begin with a slash, or use * for all paths' }];
  if (value.slice(0, -1).includes('*'))
    return [{ field, value, reason: 'has a * inside', remedy: 'use * only as the last character' }];
  return [];
}

function validateRule(rule: Rule, field: string): readonly InvalidInput[] {
  const { nonResourceURLs = [], resources = [], namespaces = [] } = rule;
  const isMixed = nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0);
  return [
    ...nonResourceURLs.flatMap((value, index) => validatePath(value, `${field}.nonResourceURLs[${index}]`)),
    ...(isMixed
      ? [
          {
            field: `${field}.nonResourceURLs`,
            value: nonResourceURLs.join(', '),
            reason: 'cannot be in a rule with resources or namespaces',
            remedy: 'split it into two rules',
          },
        ]
      : []),
    ...resources.flatMap(({ group = '', resources: names = [], resourceNames = [] }, index) => {
      const here = `${field}.resources[${index}]`;
      return [
        ...(group === '' || group === '*' || isSubdomain(group)
          ? []
          : [
              {
                field: `${here}.group`,
                value: group,
                reason: 'is not an API group',
                remedy: 'write the group without a version, e.g. rbac.authorization.k8s.io',
              },
            ]),
        ...(resourceNames.length > 0 && names.length === 0
          ? [
              {
                field: `${here}.resourceNames`,
                value: resourceNames.join(', '),
                reason: 'needs the resources that have these names',
                remedy: `set ${here}.resources`,
              },
            ]
          : []),
      ];
    }),
  ];
}

/** What kube-apiserver would refuse in an audit policy, and a policy without a place for its events. */
export function validateAudit({ spec }: Pick<TenantControlPlane, 'spec'>): readonly InvalidInput[] {
  const { audit } = spec.kubernetes;
  if (audit === undefined) return [];
  const { policy, log, webhook } = audit;
  return [
    ...(log !== true && webhook === undefined
      ? [{ field: at, reason: 'records events nowhere', remedy: `set ${at}.log to true, or ${at}.webhook` }]
      : []),
    ...policy.rules.flatMap((rule, index) => validateRule(rule, `${at}.policy.rules[${index}]`)),
    ...validateAuthority(`${at}.webhook.certificateAuthority`, webhook?.certificateAuthority),
  ];
}
