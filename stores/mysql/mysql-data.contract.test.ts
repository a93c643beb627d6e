import { startMysqlDataStore } from '../../testing/mysql-data-store.ts';
import { kineDataUnderTest } from '../../testing/stores/kine-data-under-test.ts';
import { describeTenancyData } from '../tenancy-data-contract.ts';
import { mysqlDriver } from './mysql-driver.ts';

describeTenancyData('MariaDB with TLS', async () => {
  const store = await startMysqlDataStore({ tls: true });
  const config = await mysqlDriver.configure(store.dataStore, () => Promise.resolve(undefined));
  return kineDataUnderTest({
    driver: mysqlDriver,
    config,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  });
});
