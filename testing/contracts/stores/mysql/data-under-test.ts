import { mysqlDriver } from '../../../../stores/mysql/driver.ts';
import type { DataUnderTest } from '../../../../stores/contract/tenancy-data-contract.ts';
import { kineDataUnderTest } from '../kine-data-under-test.ts';
import { startMysqlDataStore } from './data-store.ts';

/** A MariaDB server with TLS that gives tenancies. */
export async function startMysqlDataUnderTest(): Promise<DataUnderTest> {
  const store = await startMysqlDataStore({ tls: true });
  const config = await mysqlDriver.configure(store.dataStore, () => Promise.resolve(undefined));
  return kineDataUnderTest({
    driver: mysqlDriver,
    config,
    [Symbol.asyncDispose]: async () => {
      await store[Symbol.asyncDispose]();
    },
  });
}
