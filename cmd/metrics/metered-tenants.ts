import { hasData } from '../../api/steward/v1alpha1/data-owner.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { dataStoreName } from '../../api/steward/v1alpha1/data-stores-of.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import {
  distinctShares,
  recordedShares,
} from '../../controllers/tenantcontrolplane/datastore/overrides/override-shares.ts';
import { tenancyOf } from '../../controllers/tenantcontrolplane/datastore/store-phase.ts';
import type { TenancySize } from '../../stores/driver.ts';
import type { StoreAccess } from '../../stores/store-access.ts';
import type { MeteredTenant } from '../../stores/tenancy-meter.ts';

/** What is known of tenants and DataStores. */
export interface MeteredFacts {
  readonly tenants: readonly TenantControlPlane[];
  readonly dataStores: readonly DataStore[];
  readonly stores: Pick<StoreAccess, 'open'>;
  /** DataStore of tenants that neither name nor select one; empty for none. */
  readonly defaultDataStore: string;
}

/** The tenants whose data is recorded to exist, except those that are being deleted. Copies that migrations left behind do not count. */
export function meteredTenants({ tenants, ...facts }: MeteredFacts): readonly MeteredTenant[] {
  return tenants
    .filter((tcp) => hasData(tcp) && tcp.metadata.deletionTimestamp === undefined)
    .map((tcp) => ({ uid: tcp.metadata.uid, measure: (signal) => dataSize(tcp, facts, signal) }));
}

/** The tenancy in use and those of overrides; undefined unless all of them are known. */
export async function dataSize(
  tcp: TenantControlPlane,
  { dataStores, stores, defaultDataStore }: Omit<MeteredFacts, 'tenants'>,
  signal: AbortSignal,
): Promise<TenancySize | undefined> {
  const main = tenancyOf(tcp);
  const shares = [
    { name: dataStoreName(tcp, defaultDataStore), tenancy: main },
    ...distinctShares(recordedShares(tcp)).map(({ dataStoreName: name, schema, user }) => {
      return { name, tenancy: { schema, user, owner: main.owner } };
    }),
  ];
  let sum = nothing;
  for (const { name, tenancy } of shares) {
    const store = dataStores.find(({ metadata }) => metadata.name === name);
    if (store === undefined) return undefined;
    const open = await stores.open(store, signal);
    const size = await open.use((session) => session.measure(tenancy, signal));
    if (size === undefined) return undefined;
    sum = plus(sum, size);
  }
  return sum;
}

const nothing: TenancySize = { bytes: 0, content: { keys: 0, bytes: 0 } };

function plus(one: TenancySize, other: TenancySize): TenancySize {
  return {
    bytes: one.bytes + other.bytes,
    content: { keys: one.content.keys + other.content.keys, bytes: one.content.bytes + other.content.bytes },
  };
}
