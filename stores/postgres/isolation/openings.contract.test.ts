import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../runtime/clock.ts';
import { startPostgresUnderTest } from '../../../testing/contracts/stores/postgres/store-under-test.ts';
import type { PostgresUnderTest } from '../../../testing/contracts/stores/postgres/store-under-test.ts';
import type { Session, Tenancy } from '../../driver.ts';
import { verifyIsolation } from '../../isolation/verify-isolation.ts';
import type { IsolationVerdict } from '../../isolation/verify-isolation.ts';

const { signal } = new AbortController();
const tenancy = (name: string): Tenancy => ({ schema: name, user: name, owner: `uid-${name}`, password: `Pw-${name}` });

describe('A PostgreSQL with tenants', () => {
  let store: PostgresUnderTest;
  let session: Session;
  const verify = (): Promise<IsolationVerdict> => {
    const { driver, config } = store;
    return verifyIsolation({ driver, config, session, id: 'openings', clock: systemClock, signal });
  };

  beforeAll(async () => {
    store = await startPostgresUnderTest();
    session = await store.driver.open(store.config, signal);
    for (const name of ['one', 'two']) await session.ensure(tenancy(name));
  }, 120_000);
  afterAll(async () => {
    await session[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });

  test.each([
    [
      'every role, because CONNECT is granted to PUBLIC',
      'GRANT CONNECT ON DATABASE one TO PUBLIC',
      'REVOKE CONNECT ON DATABASE one FROM PUBLIC',
    ],
    ['role two of another tenant', 'GRANT CONNECT ON DATABASE one TO two', 'REVOKE CONNECT ON DATABASE one FROM two'],
  ])(
    'is found to let %s into the database of a tenant, until that is revoked',
    async (whom, open, close) => {
      await store.server.sql(open);
      expect(await verify()).toEqual({ attempts: 1, breach: `connections to database one of a tenant by ${whom}` });
      await store.server.sql(close);
      expect(await verify()).toEqual({ attempts: expect.any(Number) });
    },
    60_000,
  );

  test('may have other databases that all users may use, and administrators who may use all databases', async () => {
    await store.server.sql('CREATE DATABASE applications');
    await store.server.sql('CREATE ROLE backups LOGIN');
    await store.server.sql('GRANT CONNECT ON DATABASE one TO backups');
    expect(await verify()).toEqual({ attempts: expect.any(Number) });
  }, 60_000);
});
