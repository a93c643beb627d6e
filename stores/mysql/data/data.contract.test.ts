import { startMysqlDataStore } from '../../../testing/contracts/stores/mysql/data-store.ts';
import { kineDataUnderTest } from '../../../testing/contracts/stores/kine-data-under-test.ts';
import { describeTenancyData } from '../../contract/tenancy-data-contract.ts';
import { mysqlDriver } from '../driver.ts';

describeTenancyData('MariaDB with TLS', async () => {
  const store = await startMysqlDataStore({ tls: true });
  const config = await mysqlDriver.configure(store.dataStore, () => Promise.resolve(undefined));
  return kineDataUnderTest({
    driver: mysqlDriver,
    config,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  });
});
