import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { isUnderWay, shareInUse } from '../../api/steward/v1alpha1/share-in-use.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenancyOwner } from '../../controllers/tenantcontrolplane/datastore/tenancy.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { openTenancyData } from '../../stores/open-tenancy-data.ts';
import type { StoreAccess } from '../../stores/store-access.ts';
import type { TenancyData } from '../../stores/tenancy-data.ts';
import { BackupRefusal } from './backup-refusal.ts';

/** Where the data of a control plane is. */
export interface DataPlace {
  readonly dataStoreName: string;
  readonly schema: string;
  readonly user: string;
  readonly owner: string;
}

/** Where the data is; undefined until a control plane has some. Throws `BackupRefusal` during a migration. */
export function dataPlace(tcp: TenantControlPlane): DataPlace | undefined {
  const { storage } = tcp.status ?? {};
  if (isUnderWay(storage?.migration)) {
    const { namespace, name } = tcp.metadata;
    throw new BackupRefusal(
      `the data of ${namespace}/${name} is being migrated: try again when the migration has ended`,
    );
  }
  const share = shareInUse(storage) ?? { dataStoreName: storage?.dataStoreName, ...storage?.setup };
  const { dataStoreName, schema, user } = share;
  if (dataStoreName === undefined || schema === undefined || user === undefined) return undefined;
  return { dataStoreName, schema, user, owner: tenancyOwner(tcp) };
}

/** Opens the data with administrative rights; `store` is the UID of its DataStore. Throws `BackupRefusal` without its DataStore, and what the datastore throws. */
export async function openData(
  { dataStoreName, schema, user, owner }: DataPlace,
  {
    cluster,
    stores,
    signal,
  }: {
    readonly cluster: Cluster;
    readonly stores: Pick<StoreAccess, 'open'>;
    readonly signal: AbortSignal;
  },
): Promise<{ readonly data: TenancyData; readonly store: string }> {
  const store = await cluster.get(dataStore, { name: dataStoreName }, { signal });
  if (store === undefined) throw new BackupRefusal(`DataStore ${dataStoreName} does not exist`);
  const data = await openTenancyData(await stores.open(store, signal), { schema, user, owner });
  return { data, store: store.metadata.uid };
}
