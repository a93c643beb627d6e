import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';

type Check = readonly [field: string, isSet: (tcp: TenantControlPlane) => boolean];

const checks: readonly Check[] = [
  ['spec.addons.tcpProxy', ({ spec }) => spec.addons.tcpProxy !== undefined],
  ['spec.addons.workerBootstrap', ({ spec }) => spec.addons.workerBootstrap !== undefined],
];

/** Fields, with all that is below them, that this version does not act upon. */
export const fieldsNotActedUpon: readonly string[] = checks.map(([field]) => field);

/** Fields that are set and that this version does not act upon. */
export function unsupportedFields(tcp: TenantControlPlane): readonly string[] {
  return checks.filter(([, isSet]) => isSet(tcp)).map(([field]) => field);
}
