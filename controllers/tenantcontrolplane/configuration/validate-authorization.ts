import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { builtInAuthorizers } from './authorization-file.ts';
import { repeated } from './repeated.ts';
import { validateAuthority } from './validate-authority.ts';
import { validateExpression } from './validate-expression.ts';

const at = 'spec.kubernetes.authorization.webhooks';

/**
 * What kube-apiserver would refuse in an AuthorizationConfiguration. Only it knows the types and functions of expressions: one that
 * is wrong in these ends new pods, and the previous ones keep serving.
 */
export function validateAuthorization({ spec }: Pick<TenantControlPlane, 'spec'>): readonly InvalidInput[] {
  const { webhooks = [] } = spec.kubernetes.authorization ?? {};
  const named = webhooks.map(({ name }, index) => ({ at: `${at}[${index}].name`, value: name }));
  const each = webhooks.flatMap(({ name, certificateAuthority, matchConditions = [] }, index) => {
    const here = `${at}[${index}]`;
    const conditions = matchConditions.map(({ expression: value }, place) => ({
      at: `${here}.matchConditions[${place}].expression`,
      value,
    }));
    return [
      ...(builtInAuthorizers.some((taken) => taken === name)
        ? [{ field: `${here}.name`, value: name, reason: 'is taken by Steward', remedy: 'choose another' }]
        : []),
      ...validateAuthority(`${here}.certificateAuthority`, certificateAuthority),
      ...conditions.flatMap(({ at: field, value }) => validateExpression(field, value, 'request')),
      ...repeated(conditions),
    ];
  });
  return [...each, ...repeated(named)];
}
