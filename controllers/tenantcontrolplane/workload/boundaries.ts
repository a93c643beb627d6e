import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import type { Program } from './guarded-arguments.ts';
import { validateArguments } from './validate-arguments.ts';
import type { AllowedArguments } from './validate-arguments.ts';
import { keepsPowers, validatePodSecurity } from './validate-pod-security.ts';
import type { PodSecurityStandard, StandardInForce } from './pod-security/standard.ts';

/** How much authors of control planes may do, as configured by the operator. */
export interface BoundarySettings {
  /** The Pod Security Standard of namespaces without a label for it. */
  readonly defaultStandard: PodSecurityStandard;
  readonly allowedArguments: AllowedArguments;
}

/** The defaults. */
export const defaultBoundaries: BoundarySettings = { defaultStandard: 'baseline', allowedArguments: new Set() };

/** How much the author of one control plane may do. */
export interface Boundaries {
  /** Absent if no standard could refuse anything, or if another cluster validates it. */
  readonly podSecurity?: StandardInForce | undefined;
  readonly allowedArguments: AllowedArguments;
}

/** Validates what would reach out of the namespace and was not stored before. */
export function validateBoundaries(
  tcp: TenantControlPlane,
  old: TenantControlPlane | undefined,
  { podSecurity, allowedArguments, programs }: Boundaries & { readonly programs: readonly Program[] },
): readonly InvalidInput[] {
  return [
    ...(podSecurity === undefined || keepsPowers(tcp, old, programs)
      ? []
      : validatePodSecurity(tcp, podSecurity, programs)),
    ...validateArguments(
      tcp,
      { programs, allowedArguments },
      (program, argument) => old !== undefined && program.args(old).includes(argument),
    ),
  ];
}
