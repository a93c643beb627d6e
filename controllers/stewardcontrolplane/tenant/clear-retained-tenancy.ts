import type { StewardControlPlaneStatus } from '../../../api/controlplane/steward-control-plane-status.ts';

/** The same status with nothing on record of data that is kept. */
export function clearRetainedTenancy(status: StewardControlPlaneStatus): StewardControlPlaneStatus {
  const rest: { keptTenancy?: unknown } & StewardControlPlaneStatus = { ...status };
  delete rest.keptTenancy;
  return rest;
}
