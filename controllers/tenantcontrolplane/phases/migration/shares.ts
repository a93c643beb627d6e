import { randomBytes } from 'node:crypto';
import { dataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { TenancyShare } from '../../../../api/steward/v1alpha1/migration-status.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { RetryError } from '../../../../runtime/errors.ts';
import type { Tenancy } from '../../../../stores/driver.ts';
import type { OpenStore } from '../../../../stores/store-access.ts';
import { tenancyOwner } from '../../components/tenancy.ts';
import type { Dependencies } from '../../dependencies.ts';

/** A share of a DataStore that can be worked on. */
export interface OpenShare {
  readonly store: DataStore;
  readonly open: OpenStore;
  readonly tenancy: Tenancy;
}

const missingMs = 10_000;

/** The tenancy behind a share. It is never adopted: what carries no owner at a target is somebody else's. */
export function tenancyOfShare(tcp: TenantControlPlane, { schema = '', user = '' }: TenancyShare): Tenancy {
  return { schema, user, owner: tenancyOwner(tcp) };
}

/** Opens a share. Throws `StoreError`, or `RetryError` while its DataStore is not there. */
export async function openShare(
  tcp: TenantControlPlane,
  share: TenancyShare,
  { deps, signal }: { readonly deps: Dependencies; readonly signal: AbortSignal },
): Promise<OpenShare> {
  const store = await deps.cluster.get(dataStore, { name: share.dataStoreName }, { signal });
  if (store === undefined) {
    const message = `DataStore ${share.dataStoreName} does not exist: create it again, what is in it is needed`;
    throw new RetryError('DataStoreNotFound', message, missingMs);
  }
  return { store, open: await deps.stores.open(store, signal), tenancy: tenancyOfShare(tcp, share) };
}

/** The tenancy with a password that nobody learns, where its store asks for one: a share that no pod uses yet. */
export function withUnknownPassword({ open, tenancy }: OpenShare): Tenancy {
  return open.passwords ? { ...tenancy, password: randomBytes(24).toString('hex') } : tenancy;
}

/** Gives the tenant its writes back, when its store has taken them. */
export async function unfence({ open, tenancy }: OpenShare): Promise<void> {
  await open.use(async (session) => {
    if (session.data === undefined) return;
    await using data = await session.data(tenancy);
    await data.unfence();
  });
}
