import { startEtcdDataUnderTest } from '../../testing/contracts/stores/etcd/data-under-test.ts';
import { startMysqlDataUnderTest } from '../../testing/contracts/stores/mysql/data-under-test.ts';
import { startPostgresDataUnderTest } from '../../testing/contracts/stores/postgres/data-under-test.ts';
import { describeMigration } from './migration-contract.ts';

const etcd = { title: 'etcd 3.7', start: () => startEtcdDataUnderTest('3.7') };
const postgres = { title: 'PostgreSQL', start: startPostgresDataUnderTest };
const mariadb = { title: 'MariaDB', start: startMysqlDataUnderTest };

describeMigration(etcd, postgres);
describeMigration(etcd, mariadb);
describeMigration(postgres, mariadb);
