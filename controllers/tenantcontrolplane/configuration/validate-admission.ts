import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { isLabel, isSubdomain } from './dns-names.ts';
import { repeated } from './repeated.ts';

const at = 'spec.kubernetes.admission';

function validateNames(
  names: readonly string[],
  field: string,
  isValid: (name: string) => boolean,
): readonly InvalidInput[] {
  const placed = names.map((value, index) => ({ at: `${field}[${index}]`, value }));
  const wrong = placed.filter(({ value }) => !isValid(value));
  const remedy = 'use lower-case letters, digits and dashes';
  return [
    ...wrong.map(({ at: place, value }) => ({ field: place, value, reason: 'is not a valid Kubernetes name', remedy })),
    ...repeated(placed),
  ];
}

/** What the admission plugins of kube-apiserver would refuse in their configuration. */
export function validateAdmission({ spec }: Pick<TenantControlPlane, 'spec'>): readonly InvalidInput[] {
  const { admission } = spec.kubernetes;
  if (admission === undefined) return [];
  const { podSecurity, eventRateLimit } = admission;
  const { usernames = [], runtimeClasses = [], namespaces = [] } = podSecurity?.exemptions ?? {};
  const exemptions = `${at}.podSecurity.exemptions`;
  return [
    ...(podSecurity === undefined && eventRateLimit === undefined
      ? [{ field: at, reason: 'configures no plugin', remedy: 'set podSecurity or eventRateLimit, or remove it' }]
      : []),
    ...validateNames(usernames, `${exemptions}.usernames`, () => true),
    ...validateNames(runtimeClasses, `${exemptions}.runtimeClasses`, isSubdomain),
    ...validateNames(namespaces, `${exemptions}.namespaces`, isLabel),
    ...repeated(
      (eventRateLimit?.limits ?? []).map(({ type }, index) => ({
        at: `${at}.eventRateLimit.limits[${index}].type`,
        value: type,
      })),
    ),
  ];
}
