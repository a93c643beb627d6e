import type { MigrationStatus, TenancyShare } from '../../../../api/steward/v1alpha1/migration-status.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenancyOwner } from '../../components/tenancy.ts';
import { tenancyIdentifier } from '../../../../stores/tenancy-names.ts';

/**
 * What the tenant's share of the target may be called, best first: as in the source, as a new tenancy would be, or like nothing
 * else. A name that the tenant has in any store of the same driver is none of them: two DataStores may lead to one server, and
 * what is made, emptied and removed as the target must never be what is in use or kept.
 */
export function targetShares(
  tcp: TenantControlPlane,
  migration: MigrationStatus,
  driver: string,
): readonly TenancyShare[] {
  const uid = tenancyOwner(tcp);
  const { source, startedAt } = migration;
  const { dataStoreName } = migration.target;
  const known = [source, ...(tcp.status?.storage?.previous ?? [])].filter((share) => share.driver === driver);
  const own = tenancyIdentifier(uid);
  const fresh = tenancyIdentifier(`${uid}/${startedAt}`);
  return [
    { schema: source.schema, user: source.user },
    { schema: own, user: own },
    { schema: fresh, user: fresh },
  ].flatMap(({ schema, user }) => {
    const isTaken = known.some((share) => share.schema === schema || share.user === user);
    return schema === undefined || user === undefined || isTaken ? [] : [{ dataStoreName, driver, schema, user }];
  });
}

/** The share to try after `refused`, whose names another owner has; undefined when there is none left. */
export function nextShare(shares: readonly TenancyShare[], refused: TenancyShare): TenancyShare | undefined {
  const same = ({ schema, user }: TenancyShare): boolean => schema === refused.schema && user === refused.user;
  const at = shares.findIndex(same);
  return shares.slice(at + 1).find((share) => !same(share));
}
