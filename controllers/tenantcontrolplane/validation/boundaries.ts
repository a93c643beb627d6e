import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { argumentComplaints, givenArguments } from './argument-complaints.ts';
import type { AllowedArguments } from './argument-complaints.ts';
import { keepsPowers, podSecurityComplaints } from './pod-security-complaints.ts';
import type { PodSecurityStandard, StandardInForce } from './pod-security/standard.ts';

/** What administrators say about how far authors of control planes may go. */
export interface BoundarySettings {
  /** The Pod Security Standard of namespaces whose own label names none. */
  readonly defaultStandard: PodSecurityStandard;
  readonly allowedArguments: AllowedArguments;
}

/** What counts when nobody says anything. */
export const defaultBoundaries: BoundarySettings = { defaultStandard: 'baseline', allowedArguments: new Set() };

/** How far the author of one control plane may go. */
export interface Boundaries {
  /** Absent where no standard could refuse anything, or where another cluster judges. */
  readonly podSecurity?: StandardInForce | undefined;
  readonly allowedArguments: AllowedArguments;
}

/** What would lead out of the namespace, and was not stored before. */
export function boundaryComplaints(
  tcp: TenantControlPlane,
  old: TenantControlPlane | undefined,
  { podSecurity, allowedArguments }: Boundaries,
): readonly InvalidInput[] {
  const stored = old === undefined ? undefined : givenArguments(old);
  return [
    ...(podSecurity === undefined || keepsPowers(tcp, old) ? [] : podSecurityComplaints(tcp, podSecurity)),
    ...argumentComplaints(
      givenArguments(tcp),
      allowedArguments,
      (component, argument) => stored?.[component].args.includes(argument) === true,
    ),
  ];
}
