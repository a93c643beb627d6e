import { expect, test } from '@jest/globals';
import { openOwnStorePage } from '../../testing/contracts/stores/own-store-page.ts';
import { patient } from '../../testing/patient.ts';
import { postgresPrograms } from '../../testing/servers/postgres-programs.ts';
import { startPostgres } from '../../testing/servers/postgres-server.ts';
import { postgresDriver } from './driver.ts';

test('the commands of the how-to page create an administrator without superuser rights, who can create tenants', async () => {
  await using server = await startPostgres();
  await using page = await openOwnStorePage({
    page: 'datastore-postgres',
    programs: [await postgresPrograms()],
    environment: {
      PGHOST: '127.0.0.1',
      PGPORT: String(server.port),
      PGUSER: server.user,
      PGPASSWORD: server.password,
    },
    endpoints: [`127.0.0.1:${server.port}`],
  });
  await page.runNext();
  const config = await postgresDriver.configure(page.dataStore, page.read);
  await using session = await postgresDriver.open(config, AbortSignal.timeout(patient(30_000)));
  await expect(session.ping()).resolves.toMatchObject({ supported: true });
  const tenancy = { schema: 'tenant', user: 'tenant', password: 'a-password', owner: 'somebody' };
  await session.ensure(tenancy);
  await session.remove(tenancy);
}, 120_000);
