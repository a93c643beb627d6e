import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { wakesOnRequest } from './wakes-on-request.ts';

/** True for one that sleeps and that a call would wake up: neither 0 replicas nor an annotation have it sleep, which prevail. */
export function isWakeable(tcp: Pick<TenantControlPlane, 'metadata' | 'spec' | 'status'>): boolean {
  const { state, reason } = tcp.status?.sleep ?? {};
  return (
    wakesOnRequest(tcp) &&
    tcp.metadata.deletionTimestamp === undefined &&
    tcp.spec.controlPlane.deployment.replicas !== 0 &&
    state === 'Asleep' &&
    reason !== 'Manual'
  );
}
