import { jest } from '@jest/globals';
import { slowness } from '../../e2e/cluster/slowness.ts';
import { startPostgresUnderTest } from '../../testing/contracts/stores/postgres/store-under-test.ts';
import { describeDriver } from '../contract/driver-contract.ts';

// Databases are made of files: on a machine that is busy with other tests that takes its time.
jest.setTimeout(30_000);

describeDriver(
  'PostgreSQL with TLS',
  () => startPostgresUnderTest({ tls: true, clientCertificates: true }),
  slowness(),
);
describeDriver('PostgreSQL without TLS and superuser', () => startPostgresUnderTest({ limited: true }), slowness());
