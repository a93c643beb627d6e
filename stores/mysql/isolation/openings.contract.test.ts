import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../runtime/clock.ts';
import { asAdministrator } from '../../../testing/contracts/stores/mysql/as-administrator.ts';
import { mysqlTenancy } from '../../../testing/contracts/stores/mysql/config.ts';
import { startMysqlUnderTest } from '../../../testing/contracts/stores/mysql/store-under-test.ts';
import type { StoreUnderTest } from '../../contract/driver-contract.ts';
import type { Session } from '../../driver.ts';
import { verifyIsolation } from '../../isolation/verify-isolation.ts';
import type { IsolationVerdict } from '../../isolation/verify-isolation.ts';
import type { MysqlConfig } from '../driver.ts';

const { signal } = new AbortController();

describe('A MySQL or MariaDB with tenants', () => {
  let store: StoreUnderTest<MysqlConfig>;
  let session: Session;
  const verify = (): Promise<IsolationVerdict> => {
    const { driver, config } = store;
    return verifyIsolation({ driver, config, session, id: 'openings', clock: systemClock, signal });
  };
  const run = (...statements: readonly string[]): Promise<void> => asAdministrator(store.config, ...statements);

  beforeAll(async () => {
    store = await startMysqlUnderTest({ tls: false });
    session = await store.driver.open(store.config, signal);
    for (const name of ['team_a', 'teamxa']) await session.ensure(mysqlTenancy(name));
    await run("CREATE USER 'foreign'@'%' IDENTIFIED BY 'Pw-foreign'");
  }, 120_000);
  afterAll(async () => {
    await session[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });

  // As the Go Steward grants; `team_a` is a pattern that matches `teamxa`.
  test.each([
    ['a tenant', 'team_a', 'team_a'],
    ['an account that another manager made', 'foreign', 'team_a'],
    ['a tenant, on every database', 'teamxa', '%'],
  ])(
    'is found to let %s into the database of another one by a pattern, until it is revoked',
    async (_, user, pattern) => {
      await run(`GRANT SELECT, INSERT ON \`${pattern}\`.* TO '${user}'@'%'`);
      expect(await verify()).toEqual({
        attempts: 1,
        breach: expect.stringMatching(
          new RegExp(`^use of database team.a of a tenant by account "${user}", because of a grant on "${pattern}"$`),
        ),
      });
      await run(`REVOKE SELECT, INSERT ON \`${pattern}\`.* FROM '${user}'@'%'`);
      expect(await verify()).toEqual({ attempts: expect.any(Number) });
    },
    60_000,
  );

  test('may have an account for backups with a grant on all databases, and grants with escaped names', async () => {
    await run(
      "GRANT SELECT ON `%`.* TO 'foreign'@'%'",
      "GRANT SELECT ON `team\\_a`.* TO 'team_a'@'%'",
      "GRANT SELECT ON `team\\_z`.* TO 'foreign'@'%'",
    );
    expect(await verify()).toEqual({ attempts: expect.any(Number) });
  }, 60_000);
});
