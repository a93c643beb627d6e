import { startMysqlDataStore } from '../../testing/mysql-data-store.ts';
import { startEtcdDataUnderTest } from '../../testing/stores/etcd-data-under-test.ts';
import { kineDataUnderTest } from '../../testing/stores/kine-data-under-test.ts';
import { startNatsDataUnderTest } from '../../testing/stores/nats-data-under-test.ts';
import { startPostgresDataUnderTest } from '../../testing/stores/postgres-data-under-test.ts';
import { mysqlDriver } from '../mysql/mysql-driver.ts';
import type { DataUnderTest } from '../tenancy-data-contract.ts';
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

const etcd = (release: string) => ({ title: `etcd ${release}`, start: () => startEtcdDataUnderTest(release) });
const postgres = { title: 'PostgreSQL', start: startPostgresDataUnderTest };
const nats = { title: 'NATS', start: startNatsDataUnderTest };
const mariadb = { title: 'MariaDB', start: startMariadb };

describeMigration(etcd('3.6'), etcd('3.7'));
describeMigration(etcd('3.7'), postgres);
describeMigration(etcd('3.7'), mariadb);
describeMigration(postgres, mariadb);
describeMigration(etcd('3.7'), nats);
