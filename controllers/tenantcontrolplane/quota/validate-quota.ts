import { numberOf } from '../../../api/quantity.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { readVersion } from '../../../kubeadm/versions.ts';
import { firstMinorWithPolicies } from '../datastore/migration/read-only-policy.ts';
import { argumentValue } from '../shared/argument-value.ts';
import { flagName } from '../shared/arguments.ts';

const at = 'spec.quota';
const argumentsAt = 'spec.controlPlane.deployment.extraArgs.apiServer';
const plugin = 'ValidatingAdmissionPolicy';

/** Keys of `--runtime-config` that stand for the API of admission policies. */
const policyApi = /^(api\/(all|ga)|admissionregistration\.k8s\.io\/v1(\/validatingadmissionpolic(ies|ybindings))?)$/;

/** Validates a quota: the API server must be able to deny writes. */
export function validateQuota(tcp: TenantControlPlane): readonly InvalidInput[] {
  if (tcp.spec.quota === undefined) return [];
  return [...validateSize(tcp), ...validateMinor(tcp), ...validateArguments(tcp)];
}

function validateSize({ spec }: TenantControlPlane): readonly InvalidInput[] {
  const size = spec.quota?.dataSize;
  if (size === undefined || (numberOf(size) ?? 0) >= 1) return [];
  const reason = 'is not a number of bytes above 0';
  return [{ field: `${at}.dataSize`, value: String(size), reason, remedy: 'use a quantity such as 500Mi' }];
}

function validateMinor({ spec }: TenantControlPlane): readonly InvalidInput[] {
  const { version } = spec.kubernetes;
  const read = readVersion(version);
  if (read === undefined || read.minor >= firstMinorWithPolicies) return [];
  const reason = `needs Kubernetes 1.${firstMinorWithPolicies} or later, because it is enforced by an admission policy, and spec.kubernetes.version is ${version}`;
  return [{ field: at, reason, remedy: 'choose a later version, or remove the quota' }];
}

function isSwitchedOff(argument: string): boolean {
  const name = flagName(argument);
  const parts = (argumentValue([argument], name) ?? '').split(',').map((part) => part.trim());
  if (name === 'disable-admission-plugins') return parts.includes(plugin);
  if (name !== 'runtime-config') return false;
  return parts.some((part) => {
    const [key = '', value = 'true'] = part.split('=').map((one) => one.trim());
    return policyApi.test(key) && !/^(1|t|true)$/i.test(value);
  });
}

/** Arguments with which the API server would ignore admission policies. */
function validateArguments({ spec }: TenantControlPlane): readonly InvalidInput[] {
  const given = spec.controlPlane.deployment.extraArgs?.apiServer ?? [];
  return given.flatMap((argument, index) => {
    if (!isSwitchedOff(argument)) return [];
    const field = `${argumentsAt}[${index}]`;
    const reason = `switches off admission policies, with which ${at} is enforced`;
    return [{ field, value: `--${flagName(argument)}`, reason, remedy: 'remove one of the two' }];
  });
}
