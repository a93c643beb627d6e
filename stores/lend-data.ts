import type { Tenancy } from './driver.ts';
import type { OpenStore } from './store-access.ts';
import { StoreError } from './store-error.ts';
import type { TenancyData } from './tenancy-data.ts';
import { withOtherEnd } from './with-other-end.ts';

/**
 * A tenancy's data over the shared administrative connection, which stays open until the data is disposed of. Throws
 * `StoreError`; Unsupported where the driver cannot copy.
 */
export async function lendData(store: OpenStore, tenancy: Tenancy): Promise<TenancyData> {
  const lent = Promise.withResolvers<TenancyData>();
  const returned = Promise.withResolvers<undefined>();
  // Whoever copies waits between two tries by itself, and is alone in its process: nobody else would find out.
  const use = store.probe(async (session) => {
    if (session.data === undefined) {
      throw new StoreError('Unsupported', `data cannot be moved from or to a store of driver ${store.driver} yet`);
    }
    await using data = await session.data(tenancy);
    lent.resolve(data);
    await returned.promise;
  });
  use.catch(lent.reject);
  const data = await lent.promise;
  return withOtherEnd(data, async () => {
    returned.resolve(undefined);
    await use;
  });
}
