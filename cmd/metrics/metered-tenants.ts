import { hasData } from '../../api/steward/v1alpha1/data-owner.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { dataStoreName } from '../../api/steward/v1alpha1/data-stores-of.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import {
  distinctShares,
  recordedShares,
} from '../../controllers/tenantcontrolplane/datastore/overrides/override-shares.ts';
import { tenancyOf } from '../../controllers/tenantcontrolplane/datastore/store-phase.ts';
import type { Session, Tenancy, TenancySize } from '../../stores/driver.ts';
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
  facts: Omit<MeteredFacts, 'tenants'>,
  signal: AbortSignal,
): Promise<TenancySize | undefined> {
  let sum = nothing;
  for (const share of sharesOf(tcp, facts)) {
    const size = await ofShare(share, facts, signal, (session) => session.measure(share.tenancy, signal));
    if (size === undefined) return undefined;
    sum = plus(sum, size);
  }
  return sum;
}

/** How often a tenant was written to. */
export interface CountedWrites {
  readonly writes: number;
  /** Where. */
  readonly source: string;
}

/** The writes to the same; undefined unless all of them are known. */
export async function dataWrites(
  tcp: TenantControlPlane,
  facts: Omit<MeteredFacts, 'tenants'>,
  signal: AbortSignal,
): Promise<CountedWrites | undefined> {
  const shares = sharesOf(tcp, facts);
  let writes = 0;
  for (const share of shares) {
    const counted = await ofShare(share, facts, signal, (session) => session.countWrites(share.tenancy, signal));
    if (counted === undefined) return undefined;
    writes += counted;
  }
  return { writes, source: shares.map(({ name, tenancy }) => `${name}/${tenancy.schema}`).join(',') };
}

/** A tenancy, and the name of its DataStore. */
interface Share {
  readonly name: string;
  readonly tenancy: Tenancy;
}

function sharesOf(
  tcp: TenantControlPlane,
  { defaultDataStore }: Pick<MeteredFacts, 'defaultDataStore'>,
): readonly Share[] {
  const main = tenancyOf(tcp);
  const others = distinctShares(recordedShares(tcp)).map(({ dataStoreName: name, schema, user }) => {
    return { name, tenancy: { schema, user, owner: main.owner } };
  });
  return [{ name: dataStoreName(tcp, defaultDataStore), tenancy: main }, ...others];
}

async function ofShare<T>(
  { name }: Share,
  { dataStores, stores }: Pick<MeteredFacts, 'dataStores' | 'stores'>,
  signal: AbortSignal,
  ask: (session: Session) => Promise<T | undefined>,
): Promise<T | undefined> {
  const store = dataStores.find(({ metadata }) => metadata.name === name);
  return store === undefined ? undefined : (await stores.open(store, signal)).use(ask);
}

const nothing: TenancySize = { bytes: 0, content: { keys: 0, bytes: 0 }, writes: 0 };

function plus(one: TenancySize, other: TenancySize): TenancySize {
  return {
    bytes: one.bytes + other.bytes,
    content: { keys: one.content.keys + other.content.keys, bytes: one.content.bytes + other.content.bytes },
    // A part of them says nothing.
    ...(one.writes !== undefined && other.writes !== undefined && { writes: one.writes + other.writes }),
  };
}
