import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenantControlPlaneWith } from '../builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../builders/tenant-control-plane.ts';

type ControlPlane = TenantControlPlane['spec']['controlPlane'];

/** What a test says of how a control plane is reached. */
export type PublishedBy = Partial<Pick<ControlPlane, 'ingress' | 'gateway' | 'service'>>;

/** Changes that publish a control plane. */
export function publishing(by: PublishedBy): TenantControlPlaneChanges {
  const controlPlane = { ...tenantControlPlaneWith().spec.controlPlane, ...by };
  return { spec: { dataStore: 'default', addons: {}, controlPlane } };
}

/** A TenantControlPlane that is published by more than a Service. */
export function publishedTenant(by: PublishedBy): TenantControlPlane {
  return tenantControlPlaneWith(publishing(by));
}
