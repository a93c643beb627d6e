import { startMysqlUnderTest } from '../../testing/stores/mysql-store-under-test.ts';
import { describeDriver } from '../driver-contract.ts';

describeDriver('MariaDB with TLS', () => startMysqlUnderTest({ tls: true }));
describeDriver('MariaDB without TLS', () => startMysqlUnderTest({ tls: false }));
