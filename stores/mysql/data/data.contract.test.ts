import { startMysqlDataUnderTest } from '../../../testing/contracts/stores/mysql/data-under-test.ts';
import { describeTenancyData } from '../../contract/tenancy-data-contract.ts';

describeTenancyData('MariaDB with TLS', startMysqlDataUnderTest);
