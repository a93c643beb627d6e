import type { Tenancy } from './driver.ts';
import type { OpenStore } from './store-access.ts';
import { StoreError } from './store-error.ts';
import type { TenancyData } from './tenancy-data.ts';
import { withOtherEnd } from './with-dispose.ts';

/**
 * A tenancy's data over the shared administrative connection, which stays open until the data is disposed. Throws
 * `StoreError`; Unsupported where the driver cannot copy.
 */
export async function openTenancyData(store: OpenStore, tenancy: Tenancy): Promise<TenancyData> {
  const lent = Promise.withResolvers<TenancyData>();
  const returned = Promise.withResolvers<undefined>();
  // As a probe: a migration waits between attempts itself and is alone in its process, so nothing else would close the circuit breaker.
  const use = store.probe(async (session) => {
    if (session.data === undefined) {
      throw new StoreError('Unsupported', `data cannot be migrated from or to driver ${store.driver} yet`);
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
