import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { patient } from '../../../testing/patient.ts';
import { postgresProbe } from '../isolation/probe.ts';
import { rawPostgres } from '../isolation/raw-client.ts';
import { startPostgresUnderTest } from '../../../testing/contracts/stores/postgres/store-under-test.ts';
import type { PostgresUnderTest } from '../../../testing/contracts/stores/postgres/store-under-test.ts';
import type { Session, Tenancy } from '../../driver.ts';
import type { Tenant } from '../../driver.ts';
import type { TenancyData } from '../../tenancy-data.ts';
import { copyLoginPrefix } from './copy-names.ts';
import { postgresDriver } from '../driver.ts';

jest.setTimeout(60_000);

const entry = { key: 'pods/a', value: Buffer.from('x') };

describe.each([
  ['a superuser', false],
  ['a login that may make databases and roles', true],
])('A copy in a PostgreSQL that is administered by %s', (_name, limited) => {
  let store: PostgresUnderTest;
  let session: Session;
  let count = 0;

  beforeAll(async () => {
    store = await startPostgresUnderTest({ tls: true, clientCertificates: true, limited });
    session = await postgresDriver.open(store.config, new AbortController().signal);
  });
  afterAll(async () => {
    await session[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });

  const settle = async (): Promise<Tenant> => {
    count += 1;
    const [name, owner] = [`Tenant-${count}`, `uid-${count}`];
    const tenancy = { schema: name.toLowerCase(), user: name, owner, password: `pw-${count}` };
    await session.ensure(tenancy);
    return { tenancy, tls: await postgresDriver.clientTls(store.config, tenancy, undefined, new Date()) };
  };
  const withoutPassword = ({ tenancy: { schema, user, owner } }: Tenant): Tenancy => ({ schema, user, owner });
  const dataOf = async (tenant: Tenant): Promise<TenancyData> => {
    const data = await session.data?.(withoutPassword(tenant));
    if (data === undefined) throw new Error('the driver cannot copy');
    return data;
  };
  const roles = async (): Promise<readonly string[]> =>
    (await store.server.sql(`SELECT rolname FROM pg_roles WHERE starts_with(rolname, 'steward.')`)).map(({ rolname }) =>
      String(rolname),
    );
  /** A login as left by a process that died during a copy. */
  const leaveLogin = async ({ tenancy: { user } }: Tenant, until: string): Promise<string> => {
    const name = `${copyLoginPrefix(user)}left`;
    await store.server.sql(`CREATE ROLE "${name}" LOGIN VALID UNTIL '${until}' IN ROLE "${user}"`);
    return name;
  };

  test('needs no password of the tenant, creates the tenant’s objects, and leaves nothing else behind', async () => {
    const tenant = await settle();
    await using first = await dataOf(tenant);
    await first.fence();
    await first.beginWrites();
    await first.write([{ is: 'put', entry }]);
    await first.unfence();
    await first[Symbol.asyncDispose]();
    const before = await store.dump();
    expect(before.join()).not.toContain('steward.copy');
    await using again = await dataOf(tenant);
    expect(await store.dump()).not.toEqual(before);
    await again.unfence();
    expect(await again.count()).toBe(1);
    await again[Symbol.asyncDispose]();
    expect(await store.dump()).toEqual(before);
    const { schema, user } = tenant.tenancy;
    const owners = `SELECT DISTINCT relowner::regrole::text AS owner FROM pg_class WHERE relnamespace = 'public'::regnamespace`;
    expect(await store.server.sql(owners, schema)).toEqual([{ owner: `"${user}"` }]);
    await using hand = await postgresProbe.connect(store.config, tenant);
    expect(await hand.read(entry.key)).toBe('x');
  });

  test('continues while the tenancy is ensured and while another copy begins and ends', async () => {
    const tenant = await settle();
    await using data = await dataOf(tenant);
    await session.ensure(tenant.tenancy);
    await using other = await dataOf(tenant);
    await other.beginWrites();
    await other.write([{ is: 'put', entry }]);
    await other[Symbol.asyncDispose]();
    expect(await data.count()).toBe(1);
  });

  test('ends the connections of copies that write, with their transactions, and leaves no role of them', async () => {
    const tenant = await settle();
    await using reader = await dataOf(tenant);
    await using data = await dataOf(tenant);
    await data.beginWrites();
    await data.write([{ is: 'put', entry }]);
    expect(await roles()).toHaveLength(2);
    await using other = await dataOf(tenant);
    await other.endWrites();
    expect(await roles()).toHaveLength(2);
    await expect(data.count()).rejects.toMatchObject({ name: 'StoreError' });
    expect(await reader.count()).toBe(1);
  });

  test('gives code of the tenant that resets its role no more permissions than the tenant has', async () => {
    const tenant = await settle();
    const { user } = tenant.tenancy;
    const client = await rawPostgres(store.config, tenant);
    const body = `BEGIN RESET ROLE; SET ROLE NONE; CREATE ROLE mallory; RETURN 1; EXCEPTION WHEN insufficient_privilege THEN RETURN 2; END`;
    await client.query(`CREATE FUNCTION evil () RETURNS int LANGUAGE plpgsql AS $$ ${body} $$`);
    await client.query(
      `CREATE VIEW kine AS SELECT evil()::bigint AS id, 'x' AS name, 0 AS deleted, 0::bigint AS prev_revision`,
    );
    await client.end();
    await using data = await dataOf(tenant);
    expect(await data.revision()).toBe(2n);
    expect(await store.server.sql(`SELECT rolsuper FROM pg_roles WHERE rolname = '${user}'`)).toEqual([
      { rolsuper: false },
    ]);
  });

  test('is undone by revocation and removal, which drop what an interrupted copy left', async () => {
    const tenant = await settle();
    for (const end of ['revoke', 'remove'] as const) {
      await session.ensure(tenant.tenancy);
      await using data = await dataOf(tenant);
      await leaveLogin(tenant, 'infinity');
      expect(await roles()).toHaveLength(2);
      await session[end]?.(withoutPassword(tenant));
      await expect(data.count()).rejects.toMatchObject({ name: 'StoreError' });
      expect(await roles()).toEqual([]);
    }
  });

  test('drops leftovers of earlier copies, and nothing of another tenant', async () => {
    const [tenant, other] = [await settle(), await settle()];
    const gone = await leaveLogin(tenant, '2001-01-01');
    const others = await leaveLogin(other, '2001-01-01');
    await using data = await dataOf(tenant);
    expect(await data.count()).toBe(0);
    const found = await roles();
    expect([found.includes(gone), found.includes(others)]).toEqual([false, true]);
    await session.remove(other.tenancy);
  });

  test.each(['revoke', 'remove'] as const)(
    'does not wait for a tenant’s locks to %s it, nor make others wait',
    async (end) => {
      const [tenant, neighbor] = [await settle(), await settle()];
      const busy = await rawPostgres(store.config, tenant);
      await busy.query(`BEGIN; ALTER ROLE CURRENT_USER PASSWORD 'x'`);
      const begun = performance.now();
      await expect(session.ensure(tenant.tenancy)).rejects.toMatchObject({ reason: 'Failed' });
      await Promise.all([session[end]?.(withoutPassword(tenant)), session.ping(), session.ensure(neighbor.tenancy)]);
      expect(performance.now() - begun).toBeLessThan(patient(5_000));
      await expect(busy.query('SELECT 1')).rejects.toBeDefined();
      await expect(rawPostgres(store.config, tenant)).rejects.toBeDefined();
    },
  );

  test('does not prevent the removal of a tenant that has prepared a transaction over its role', async () => {
    const tenant = await settle();
    const busy = await rawPostgres(store.config, tenant, { database: 'postgres' });
    await busy.query('BEGIN');
    await busy.query(`ALTER ROLE CURRENT_USER PASSWORD 'x'`);
    await busy.query(`PREPARE TRANSACTION 'held'`);
    await session.remove(tenant.tenancy);
    await busy.end();
    expect((await store.names()).users).not.toContain(tenant.tenancy.user);
    expect(await store.server.sql('SELECT gid FROM pg_prepared_xacts')).toEqual([]);
  });
});
