import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';

type Check = readonly [field: string, isSet: (tcp: TenantControlPlane) => boolean];

/** Of this version nothing: each new field that nothing acts upon yet gets a row. */
const checks: readonly Check[] = [];

/** Fields, with all that is below them, that this version does not act upon. */
export const fieldsNotActedUpon: readonly string[] = checks.map(([field]) => field);

/** Fields that are set and that this version does not act upon. */
export function unsupportedFields(tcp: TenantControlPlane): readonly string[] {
  return checks.filter(([, isSet]) => isSet(tcp)).map(([field]) => field);
}
