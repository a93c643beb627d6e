import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { ResourceRequirements } from './pod-parts.ts';

/** The author's requirements for every container without requirements of its own. */
export function sharedResources({ spec }: TenantControlPlane): ResourceRequirements | undefined {
  const { limits, requests } = spec.controlPlane.deployment.resources ?? {};
  if (limits === undefined && requests === undefined) return undefined;
  return { limits, requests };
}
