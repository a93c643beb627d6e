import { expect, test } from '@jest/globals';
import { ensurePackages } from '../../e2e/tools/debian-packages.ts';
import { openOwnStorePage } from '../../testing/contracts/stores/own-store-page.ts';
import { patient } from '../../testing/patient.ts';
import { startMariadb } from '../../testing/servers/mariadb-server.ts';
import { mysqlDriver } from './driver.ts';

test('the commands of the how-to page create an administrator with exactly the needed permissions, who can create tenants', async () => {
  await ensurePackages(['mariadb-client-core'], (line) => void process.stderr.write(`${line}\n`));
  await using server = await startMariadb();
  await using page = await openOwnStorePage({
    page: 'datastore-mysql',
    programs: [],
    environment: { MYSQL_HOST: '127.0.0.1', MYSQL_TCP_PORT: String(server.port), MYSQL_PWD: server.password },
    endpoints: [`127.0.0.1:${server.port}`],
  });
  await page.runNext();
  const config = await mysqlDriver.configure(page.dataStore, page.read);
  await using session = await mysqlDriver.open(config, AbortSignal.timeout(patient(30_000)));
  await expect(session.ping()).resolves.toMatchObject({ supported: true });
  const tenancy = { schema: 'tenant', user: 'tenant', password: 'a-password', owner: 'somebody' };
  await session.ensure(tenancy);
  await session.remove(tenancy);
}, 120_000);
