import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

type Check = readonly [field: string, isSet: (tcp: TenantControlPlane) => boolean];

/** Currently none: each new field that is not supported yet gets a row. */
const checks: readonly Check[] = [];

/** Fields, including everything below them, that this version ignores. */
export const ignoredFields: readonly string[] = checks.map(([field]) => field);

/** Fields that are set although this version ignores them. */
export function unsupportedFields(tcp: TenantControlPlane): readonly string[] {
  return checks.filter(([, isSet]) => isSet(tcp)).map(([field]) => field);
}
