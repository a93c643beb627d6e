import { startMysqlDataStore } from '../../testing/contracts/stores/mysql/data-store.ts';
import { startEtcdDataUnderTest } from '../../testing/contracts/stores/etcd/data-under-test.ts';
import { kineDataUnderTest } from '../../testing/contracts/stores/kine-data-under-test.ts';
import { startPostgresDataUnderTest } from '../../testing/contracts/stores/postgres/data-under-test.ts';
import { mysqlDriver } from '../mysql/driver.ts';
import type { DataUnderTest } from '../contract/tenancy-data-contract.ts';
import { describeMigration } from './migration-contract.ts';

async function startMariadb(): Promise<DataUnderTest> {
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

const etcd = { title: 'etcd 3.7', start: () => startEtcdDataUnderTest('3.7') };
const postgres = { title: 'PostgreSQL', start: startPostgresDataUnderTest };
const mariadb = { title: 'MariaDB', start: startMariadb };

describeMigration(etcd, postgres);
describeMigration(etcd, mariadb);
describeMigration(postgres, mariadb);
