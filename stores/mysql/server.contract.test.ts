import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mysqlConfigOf, mysqlTenancy, openMysql } from '../../testing/contracts/stores/mysql/config.ts';
import { startMariadb } from '../../testing/servers/mariadb-server.ts';
import type { MariadbServer } from '../../testing/servers/mariadb-server.ts';
import { administratorLogin, asAdministrator } from '../../testing/contracts/stores/mysql/as-administrator.ts';
import { rawMysql, tenantLogin } from './isolation/raw-client.ts';
import { makeAsGoSteward } from '../../testing/contracts/stores/mysql/states.ts';
import type { Session } from '../driver.ts';
import type { MysqlConfig } from './driver.ts';
import { createDatabase, identifier, table } from './sql.ts';

describe('The MySQL driver with a MariaDB without TLS', () => {
  let server: MariadbServer;
  let config: MysqlConfig;
  let session: Session;

  beforeAll(async () => {
    server = await startMariadb();
    config = mysqlConfigOf(server);
    session = await openMysql(config);
  }, 60_000);
  afterAll(async () => {
    await session[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  test('continues after a restart of the server, with the same session', async () => {
    const tenancy = mysqlTenancy('restart');
    await session.ensure(tenancy);
    await server.restart();
    await session.ensure(tenancy);
    await session.remove(tenancy);
  }, 30_000);

  test('reports that it does not support TLS', async () => {
    await using secure = await openMysql({ ...config, tls: { ca: 'x' } });
    await expect(secure.ping()).rejects.toMatchObject({ reason: 'Unsupported' });
  });

  test('creates exactly the named database for any name that the server accepts', async () => {
    const client = await rawMysql(config, administratorLogin(config));
    const databases = async (): Promise<readonly string[]> => {
      const [rows] = await client.query('SELECT SCHEMA_NAME AS name FROM information_schema.SCHEMATA');
      return (rows as { name: string }[]).map(({ name }) => name);
    };
    try {
      const before = await databases();
      const hostile = fc.constantFrom('`', "'", '"', '\\', ';', '--', '%', '_', '.', 'ä', '; DROP DATABASE mysql', 'a');
      const names = fc.array(hostile, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''));
      let made = 0;
      await fc.assert(
        fc.asyncProperty(names, async (name) => {
          fc.pre(!before.includes(name));
          try {
            await client.query(createDatabase(name));
          } catch (error) {
            // Too long, or a space at its end.
            expect(error).toMatchObject({ code: 'ER_WRONG_DB_NAME' });
            return;
          }
          made += 1;
          expect((await databases()).filter((one) => !before.includes(one))).toEqual([name]);
          await client.query(`DROP DATABASE ${identifier(name)}`);
        }),
        { numRuns: 60 },
      );
      expect(made).toBeGreaterThan(20);
      expect(await databases()).toEqual(before);
    } finally {
      client.destroy();
    }
  }, 60_000);

  test('ends the connections of a tenancy that it adopts, which would keep their previous grants', async () => {
    const [wide, neighbor] = [mysqlTenancy('n_1'), mysqlTenancy('nx1')];
    await session.ensure(neighbor);
    await makeAsGoSteward(config, wide);
    const old = await rawMysql(config, tenantLogin({ tenancy: wide, tls: undefined }));
    try {
      // The defect of the Go program: the underscore in its grant matches any letter.
      await old.query(`USE ${identifier(neighbor.schema)}`);
      await old.query('SELECT * FROM kine');
      await session.ensure({ ...wide, adopt: true });
      await expect(old.query('SELECT * FROM kine')).rejects.toThrow();
      const fresh = await rawMysql(config, tenantLogin({ tenancy: wide, tls: undefined }));
      await fresh.query(`SELECT * FROM ${table(wide.schema)}`);
      const refused = fresh.query(`SELECT * FROM ${table(neighbor.schema)}`);
      await expect(refused).rejects.toMatchObject({ errno: 1142 });
      fresh.destroy();
    } finally {
      old.destroy();
    }
    await session.remove(wide);
    await session.remove(neighbor);
  });

  test('keeps the data of a table that kine created, and compares its keys by bytes from then on', async () => {
    const tenancy = mysqlTenancy('taken');
    await makeAsGoSteward(config, tenancy);
    const insert = `INSERT INTO ${table(tenancy.schema)} (name, created, deleted, prev_revision, lease, value) VALUES`;
    await asAdministrator(config, `${insert} ('/registry/clusterroles/a', 1, 0, 0, 0, 'kept')`);
    await session.ensure({ ...tenancy, adopt: true });
    await using data = await session.data?.(tenancy);
    const put = (name: string) =>
      ({ is: 'put', entry: { key: `clusterroles/${name}`, value: Buffer.from(name) } }) as const;
    await data?.beginWrites();
    await data?.write([put('A'), put('ä')]);
    const pages = [];
    for await (const page of data?.pages(await data.revision()) ?? []) pages.push(...page);
    expect(pages.map(({ key, value }) => [key, Buffer.from(value).toString()])).toEqual([
      ['clusterroles/A', 'A'],
      ['clusterroles/a', 'kept'],
      ['clusterroles/ä', 'ä'],
    ]);
    await session.remove(tenancy);
  });

  test('assigns a write to a revision only when its transaction has ended', async () => {
    const tenancy = mysqlTenancy('open');
    await session.ensure(tenancy);
    await using data = await session.data?.(tenancy);
    if (data === undefined) throw new Error('no data');
    const [slow, fast] = [
      await rawMysql(config, tenantLogin({ tenancy, tls: undefined })),
      await rawMysql(config, tenantLogin({ tenancy, tls: undefined })),
    ];
    const insert = "INSERT INTO kine (name, created, deleted, prev_revision, lease, value) VALUES (?, 1, 0, 0, 0, 'x')";
    try {
      await slow.query('START TRANSACTION');
      await slow.query(insert, ['/registry/slow']);
      await fast.query(insert, ['/registry/fast']);
      let known = false;
      const revision = data.revision().finally(() => {
        known = true;
      });
      await fast.query('SELECT SLEEP(0.2)');
      expect(known).toBe(false);
      await slow.query('COMMIT');
      const seen: string[] = [];
      for await (const page of data.pages(await revision)) seen.push(...page.map(({ key }) => key));
      expect(seen).toEqual(['fast', 'slow']);
      await slow.query('START TRANSACTION');
      await slow.query(insert, ['/registry/stuck']);
      await fast.query(insert, ['/registry/later']);
      await expect(data.revision()).rejects.toThrow(/another transaction locks the table/);
      // The lock that was not acquired blocks nothing.
      await fast.query(insert, ['/registry/again']);
    } finally {
      slow.destroy();
      fast.destroy();
    }
    await session.remove(tenancy);
  }, 30_000);

  test('creates no tenancy that every account could access', async () => {
    const tenancy = mysqlTenancy('test_a');
    const insert = 'INSERT INTO mysql.db (Host, Db, User, Select_priv) VALUES';
    // What older installations come with.
    await server.sql(`${insert} ('%', 'test\\\\_%', '', 'Y')`, 'FLUSH PRIVILEGES');
    await expect(session.ensure(tenancy)).rejects.toMatchObject({ reason: 'Unauthorized' });
    await session.ensure(mysqlTenancy('testXa'));
    await session.remove(mysqlTenancy('testXa'));
    await server.sql(
      "DELETE FROM mysql.db WHERE User = ''",
      'FLUSH PRIVILEGES',
      'GRANT SELECT ON `test_%`.* TO PUBLIC',
    );
    await expect(session.ensure(tenancy)).rejects.toThrow(/every account has access to database test_a/);
    await session.ping();
    await server.sql('GRANT SELECT ON *.* TO PUBLIC');
    await expect(session.ping()).rejects.toThrow(/ON \*\.\* TO PUBLIC/);
    await server.sql('REVOKE ALL PRIVILEGES, GRANT OPTION FROM PUBLIC');
    await session.ensure(tenancy);
    await session.remove(tenancy);
  });

  test('refuses to copy a database that it has not created', async () => {
    await expect(session.data?.(mysqlTenancy('nobody'))).rejects.toMatchObject({ reason: 'OwnedByAnother' });
    await expect(session.data?.(mysqlTenancy('mysql'))).rejects.toMatchObject({ reason: 'InvalidName' });
  });
});
