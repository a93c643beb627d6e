import { jest } from '@jest/globals';
import { startPostgresDataUnderTest } from '../../../testing/contracts/stores/postgres/data-under-test.ts';
import { describeTenancyData } from '../../contract/tenancy-data-contract.ts';

// Every tenant is a database and a kine of its own.
jest.setTimeout(30_000);

describeTenancyData('PostgreSQL', startPostgresDataUnderTest);
