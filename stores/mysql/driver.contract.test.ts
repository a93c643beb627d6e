import { startMysqlUnderTest } from '../../testing/contracts/stores/mysql/store-under-test.ts';
import { describeDriver } from '../contract/driver-contract.ts';

describeDriver('MariaDB with TLS', () => startMysqlUnderTest({ tls: true }));
describeDriver('MariaDB without TLS', () => startMysqlUnderTest({ tls: false }));
