import { slowness } from '../../e2e/cluster/slowness.ts';
import { startMysqlUnderTest } from '../../testing/contracts/stores/mysql/store-under-test.ts';
import { describeDriver } from '../contract/driver-contract.ts';

describeDriver('MariaDB with TLS', () => startMysqlUnderTest({ tls: true }), slowness());
describeDriver('MariaDB without TLS', () => startMysqlUnderTest({ tls: false }), slowness());
