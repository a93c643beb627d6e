import { startMysqlDataUnderTest } from '../../testing/contracts/stores/mysql/data-under-test.ts';
import { startPostgresDataUnderTest } from '../../testing/contracts/stores/postgres/data-under-test.ts';
import { describeBackup } from './backup-contract.ts';

describeBackup('PostgreSQL', startPostgresDataUnderTest);
describeBackup('MariaDB', startMysqlDataUnderTest);
