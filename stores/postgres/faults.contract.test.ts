import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Client } from 'pg';
import { patient } from '../../testing/patient.ts';
import { rawPostgres } from './isolation/raw-client.ts';
import { startPostgresUnderTest } from '../../testing/contracts/stores/postgres/store-under-test.ts';
import type { PostgresUnderTest } from '../../testing/contracts/stores/postgres/store-under-test.ts';
import { clientPair } from '../../testing/servers/server-certificates.ts';
import { startTcpProxy } from '../../testing/servers/tcp-proxy.ts';
import type { KeyPair } from '../../kubeadm/pki/key-pair.ts';
import type { Session, Tenancy } from '../driver.ts';
import type { Tenant } from '../driver.ts';
import type { LoginConfig } from '../login-config.ts';
import { postgresDriver } from './driver.ts';
import { tenantConnections } from './limits.ts';

jest.setTimeout(60_000);

const open = (config: LoginConfig): Promise<Session> => postgresDriver.open(config, new AbortController().signal);
const at = (port: number): LoginConfig['endpoints'][number] => ({
  name: `127.0.0.1:${port}`,
  host: '127.0.0.1',
  port,
});

async function clientPairOf({ server: { ca, user } }: PostgresUnderTest): Promise<KeyPair> {
  if (ca === undefined) throw new Error('the server has no CA');
  return clientPair(ca, user);
}

describe('The PostgreSQL driver', () => {
  let store: PostgresUnderTest;
  let session: Session;
  let count = 0;

  beforeAll(async () => {
    store = await startPostgresUnderTest({ tls: true });
    session = await open(store.config);
  });
  afterAll(async () => {
    await session[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });

  const newTenancy = (): Tenancy => {
    count += 1;
    return {
      schema: `tenant_${count}`,
      user: `tenant_${count}`,
      owner: `uid-${count}`,
      password: `Secret_of-${count}`,
    };
  };
  const settle = async (): Promise<Tenant> => {
    const tenancy = newTenancy();
    await session.ensure(tenancy);
    return { tenancy, tls: await postgresDriver.clientTls(store.config, tenancy, undefined, new Date()) };
  };
  /** How many of so many connections the server lets in. It counts a connection that its client has closed for a moment longer. */
  const connections = async (tenant: Tenant, wanted: number): Promise<number> => {
    await store.server.sql(untilWithoutConnections(tenant.tenancy.user));
    const opened: Client[] = [];
    // One after the other: PostgreSQL counts those that it is about to refuse, too.
    for (let attempt = 0; attempt < wanted; attempt += 1) {
      const [one] = await Promise.allSettled([rawPostgres(store.config, tenant)]);
      if (one.status === 'fulfilled') opened.push(one.value);
    }
    await Promise.all(opened.map((client) => client.end()));
    return opened.length;
  };
  const asTenant = async <T>(tenant: Tenant, work: (client: Client) => Promise<T>): Promise<T> => {
    const client = await rawPostgres(store.config, tenant);
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  };

  test('limits the connections of a tenant, also after the limit was removed', async () => {
    const tenant = await settle();
    const wanted = tenantConnections + 3;
    expect(await connections(tenant, wanted)).toBe(tenantConnections);
    await store.server.sql(`ALTER ROLE ${tenant.tenancy.user} CONNECTION LIMIT -1`);
    expect(await connections(tenant, wanted)).toBe(wanted);
    await session.ensure(tenant.tenancy);
    expect(await connections(tenant, wanted)).toBe(tenantConnections);
  });

  test('revokes a tenant’s option to grant CONNECT and what it granted, and leaves its own CONNECT', async () => {
    const tenant = await settle();
    const { schema, user } = tenant.tenancy;
    await store.server.sql(`GRANT CONNECT ON DATABASE ${schema} TO ${user} WITH GRANT OPTION`);
    await asTenant(tenant, (client) => client.query(`GRANT CONNECT ON DATABASE ${schema} TO PUBLIC`));
    const rights = async (): Promise<unknown> => {
      const may = (who: string, what: string): string => `has_database_privilege('${who}', '${schema}', '${what}')`;
      const [row] = await store.server.sql(
        `SELECT ${may(user, 'CONNECT')} AS own, ${may(user, 'CONNECT WITH GRANT OPTION')} AS to_pass_on,
           ${may('public', 'CONNECT')} AS of_all`,
      );
      return row;
    };
    expect(await rights()).toEqual({ own: true, to_pass_on: true, of_all: true });
    await session.ensure(tenant.tenancy);
    expect(await rights()).toEqual({ own: true, to_pass_on: false, of_all: false });
  });

  test('lets no other owner adopt a tenancy whose removal has begun, also after an interruption', async () => {
    const tenancy = newTenancy();
    await store.makeUnrecorded(tenancy);
    // A server does not drop a database with a subscription.
    const hold = `CREATE SUBSCRIPTION held CONNECTION 'dbname=x' PUBLICATION x WITH (connect = false, slot_name = NONE)`;
    await store.server.sql(hold, tenancy.schema);
    await expect(session.remove({ ...tenancy, adopt: true })).rejects.toMatchObject({ reason: 'Failed' });
    const rival = session.ensure({ ...tenancy, owner: 'rival', adopt: true });
    await expect(rival).rejects.toMatchObject({ reason: 'OwnedByAnother' });
    await store.server.sql('DROP SUBSCRIPTION held', tenancy.schema);
    // It is recorded by now.
    await session.remove(tenancy);
    const { schemas, users } = await store.names();
    expect([schemas.includes(tenancy.schema), users.includes(tenancy.user)]).toEqual([false, false]);
  });

  test('writes no password to the log of a server that logs every statement', async () => {
    const { tenancy } = await settle();
    const log = await readFile(store.server.log, 'utf8');
    expect(log).toContain(`CREATE ROLE "${tenancy.user}"`);
    expect(log).toContain('SCRAM-SHA-256$');
    expect(log).not.toContain(tenancy.password);
  });

  test('removes a tenant that resists, and creates another in the meantime', async () => {
    const tenant = await settle();
    const template = await rawPostgres(store.config, tenant, { database: 'template1' });
    const busy = await rawPostgres(store.config, tenant);
    await busy.query('CREATE TABLE kine (id int); BEGIN; LOCK TABLE kine; PREPARE TRANSACTION $$held$$');
    const other = await settle();
    await session.remove(tenant.tenancy);
    await expect(template.query('SELECT 1')).rejects.toBeDefined();
    await expect(busy.query('SELECT 1')).rejects.toBeDefined();
    const { schemas, users } = await store.names();
    expect([schemas.includes(tenant.tenancy.schema), users.includes(tenant.tenancy.user)]).toEqual([false, false]);
    expect(await store.server.sql('SELECT gid FROM pg_prepared_xacts')).toEqual([]);
    await session.remove(other.tenancy);
  });

  test('runs nothing as the administrator that a tenant put in place of its table', async () => {
    const tenant = await settle();
    const { user } = tenant.tenancy;
    await asTenant(tenant, async (client) => {
      const body = `BEGIN RESET ROLE; ALTER ROLE ${user} SUPERUSER; RETURN 1; EXCEPTION WHEN OTHERS THEN RETURN 2; END`;
      await client.query(`CREATE FUNCTION evil () RETURNS int LANGUAGE plpgsql AS $$ ${body} $$`);
      const columns = `evil()::bigint AS id, 'x' AS name, 0 AS deleted, 0::bigint AS prev_revision`;
      await client.query(`CREATE VIEW kine AS SELECT ${columns}, 1 AS created, 0 AS lease, NULL::bytea AS value`);
    });
    await session.ensure(tenant.tenancy);
    await using data = await session.data?.(tenant.tenancy);
    expect(await data?.revision()).toBe(2n);
    const [role] = await store.server.sql(`SELECT rolsuper FROM pg_roles WHERE rolname = '${user}'`);
    expect(role).toEqual({ rolsuper: false });
  });

  test('gives no tenant an administrator’s role or a template database, adopted or not', async () => {
    await store.server.sql('CREATE ROLE chief SUPERUSER LOGIN');
    await store.server.sql('CREATE DATABASE pattern IS_TEMPLATE true');
    for (const over of [{ user: 'chief' }, { schema: 'pattern' }]) {
      for (const adopt of [false, true]) {
        const attempt = session.ensure({ ...newTenancy(), ...over, adopt });
        await expect(attempt).rejects.toMatchObject({ reason: 'InvalidName' });
      }
    }
    const [role] = await store.server.sql(`SELECT rolsuper, rolconnlimit FROM pg_roles WHERE rolname = 'chief'`);
    expect(role).toEqual({ rolsuper: true, rolconnlimit: -1 });
  });

  test('gives the data of a tenancy to its owner only', async () => {
    const { tenancy } = await settle();
    await expect(session.data?.({ ...tenancy, owner: 'another' })).rejects.toMatchObject({ reason: 'OwnedByAnother' });
    await expect(session.data?.(newTenancy())).rejects.toMatchObject({ reason: 'OwnedByAnother' });
  });

  test('checks the name of the endpoint that it connects to', async () => {
    const { port } = store.server;
    // The same server under a name that is not in its certificate.
    await using other = await open({ ...store.config, endpoints: [{ name: `127.1:${port}`, host: '127.1', port }] });
    await expect(other.ping()).rejects.toMatchObject({
      reason: 'Unauthorized',
      message: expect.stringMatching(/not trusted.*127\.1/),
    });
  });

  test('reports that tenants lack a certificate only if the server requires one', async () => {
    await using strict = await startPostgresUnderTest({ tls: true, clientCertificates: true });
    const { tls } = strict.config;
    if (tls?.client === undefined) throw new Error('the operator has no certificate');
    const unsigned = { ca: tls.ca, client: tls.client };
    await using own = await open({ ...strict.config, tls: unsigned });
    expect((await own.ping()).notes?.join()).toContain('certificateAuthority.privateKey');
    const client = await clientPairOf(store);
    await using other = await open({ ...store.config, tls: { ca: store.config.tls?.ca ?? '', client } });
    expect((await other.ping()).notes).toBeUndefined();
  });

  test('reports soon that a server is gone or hangs, and continues when it is back', async () => {
    await using proxy = await startTcpProxy(store.server.port);
    await using through = await open({ ...store.config, endpoints: [at(proxy.port)] });
    const { tenancy } = await settle();
    await through.ensure(tenancy);
    proxy.freeze();
    const begun = performance.now();
    await expect(through.ping()).rejects.toMatchObject({ reason: 'Unreachable' });
    expect(performance.now() - begun).toBeLessThan(patient(8_000));
    proxy.thaw();
    await through.ensure(tenancy);
    proxy.cut();
    await through.ensure(tenancy);
    await store.server.kill();
    await expect(through.ping()).rejects.toMatchObject({ reason: 'Unreachable' });
    await expect(session.ensure(tenancy)).rejects.toMatchObject({ reason: 'Unreachable' });
    await store.server.restart();
    await through.ensure(tenancy);
    await session.ensure(tenancy);
    await session.remove(tenancy);
  });
});

describe('The PostgreSQL driver with an administrator who is not a superuser', () => {
  test('removes a tenant whose table the server is vacuuming', async () => {
    await using store = await startPostgresUnderTest({ limited: true });
    await using session = await open(store.config);
    await store.server.sql('ALTER SYSTEM SET autovacuum_naptime = 1');
    await store.server.sql('SELECT pg_reload_conf()');
    const tenancy: Tenancy = { schema: 'vacuumed', user: 'vacuumed', owner: 'uid', password: 'Secret_of-vacuumed' };
    await session.ensure(tenancy);
    const client = await rawPostgres(store.config, { tenancy, tls: undefined });
    await client.query(`CREATE TABLE kine (id int) WITH (${slowVacuum})`);
    await client.query('INSERT INTO kine SELECT generate_series(1, 200000)');
    await client.query('DELETE FROM kine');
    await client.end();
    await store.server.sql(untilVacuumOf(tenancy.schema));
    await session.remove(tenancy);
    const { schemas, users } = await store.names();
    expect([schemas.includes(tenancy.schema), users.includes(tenancy.user)]).toEqual([false, false]);
  });
});

/** Begins with the first row that is gone, and takes minutes. */
const slowVacuum =
  'autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1';

/** A statement that ends when the server vacuums a table of this database by itself. */
const untilVacuumOf = (database: string): string => `DO $$ BEGIN
  WHILE NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = '${database}' AND backend_type = 'autovacuum worker') LOOP
    PERFORM pg_sleep(0.05), pg_stat_clear_snapshot();
  END LOOP;
END $$`;

/** A statement that ends when the server has no connection of this user. */
const untilWithoutConnections = (user: string): string => `DO $$ BEGIN
  WHILE EXISTS (SELECT FROM pg_stat_activity WHERE usename = '${user}') LOOP
    PERFORM pg_sleep(0.05), pg_stat_clear_snapshot();
  END LOOP;
END $$`;
