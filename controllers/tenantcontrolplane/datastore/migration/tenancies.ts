import { randomBytes } from 'node:crypto';
import { dataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { MigrationStatus, TenancyShare } from '../../../../api/steward/v1alpha1/migration-status.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { RetryError } from '../../../../runtime/client/errors.ts';
import type { Tenancy } from '../../../../stores/driver.ts';
import type { OpenStore } from '../../../../stores/store-access.ts';
import { tenancyOwner } from '../tenancy.ts';
import type { Dependencies } from '../../dependencies.ts';
import { tenancyIdentifier } from '../../../../stores/tenancy-names.ts';

/** An opened tenancy of a DataStore. */
export interface OpenShare {
  readonly store: DataStore;
  readonly open: OpenStore;
  readonly tenancy: Tenancy;
}

const missingMs = 10_000;

/** The tenancy behind a record. It is never adopted: what has no owner at a target belongs to someone else. */
export function tenancyOfShare(tcp: TenantControlPlane, { schema = '', user = '' }: TenancyShare): Tenancy {
  return { schema, user, owner: tenancyOwner(tcp) };
}

/** Opens a tenancy. Throws `StoreError`, or `RetryError` while its DataStore does not exist. */
export async function openShare(
  tcp: TenantControlPlane,
  share: TenancyShare,
  { deps, signal }: { readonly deps: Dependencies; readonly signal: AbortSignal },
): Promise<OpenShare> {
  const store = await deps.cluster.get(dataStore, { name: share.dataStoreName }, { signal });
  if (store === undefined) {
    const message = `DataStore ${share.dataStoreName} does not exist: create it again, because its data is needed`;
    throw new RetryError('DataStoreNotFound', message, missingMs);
  }
  return { store, open: await deps.stores.open(store, signal), tenancy: tenancyOfShare(tcp, share) };
}

/** The tenancy with a random password that is not stored, if its datastore needs one: no pod uses it yet. */
export function withUnknownPassword({ open, tenancy }: OpenShare): Tenancy {
  return open.capabilities.passwords ? { ...tenancy, password: randomBytes(24).toString('hex') } : tenancy;
}

/** Lifts the fence of the datastore, if there is one, so that the tenant can write again. */
export async function unfence({ open, tenancy }: OpenShare): Promise<void> {
  await open.use(async (session) => {
    if (session.data === undefined) return;
    await using data = await session.data(tenancy);
    await data.unfence();
  });
}

/**
 * The possible names of the target's tenancy, best first: as in the source, as for a new tenancy, or unique. Names that the
 * tenant has in any datastore of the same driver are excluded: two DataStores may be the same server, and what is created,
 * emptied and removed as the target must never be in use or retained.
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

/** The tenancy to try after `refused`, whose names belong to another owner; undefined when none is left. */
export function nextShare(shares: readonly TenancyShare[], refused: TenancyShare): TenancyShare | undefined {
  const same = ({ schema, user }: TenancyShare): boolean => schema === refused.schema && user === refused.user;
  const at = shares.findIndex(same);
  return shares.slice(at + 1).find((share) => !same(share));
}
