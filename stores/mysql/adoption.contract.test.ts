import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mysqlConfigOf, mysqlTenancy, openMysql } from '../../testing/contracts/stores/mysql/config.ts';
import { startMariadb } from '../../testing/servers/mariadb-server.ts';
import type { MariadbServer } from '../../testing/servers/mariadb-server.ts';
import { administratorLogin, asAdministrator } from '../../testing/contracts/stores/mysql/as-administrator.ts';
import { rawMysql, tenantLogin } from './isolation/raw-client.ts';
import { halfMadeTenancies, makeAsGoSteward } from '../../testing/contracts/stores/mysql/states.ts';
import type { Session, Tenancy } from '../driver.ts';
import type { MysqlConfig } from './driver.ts';
import { account, identifier, table } from './sql.ts';

const secret = 'the-word-of-the-victim';
const victim = mysqlTenancy('victim');

let server: MariadbServer;
let config: MysqlConfig;
let session: Session;

beforeAll(async () => {
  server = await startMariadb();
  config = mysqlConfigOf(server);
  const rights =
    'SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, LOCK TABLES, TRIGGER, EVENT, PROCESS, CREATE USER, CONNECTION ADMIN';
  await server.sql(
    "CREATE USER steward@'%' IDENTIFIED BY 'x'",
    `GRANT ${rights} ON *.* TO steward@'%' WITH GRANT OPTION`,
  );
  session = await openMysql({ ...config, username: 'steward', password: 'x' });
  await session.ensure(victim);
  await using data = await session.data?.(victim);
  await data?.beginWrites();
  await data?.write([{ is: 'put', entry: { key: 'secrets/a', value: Buffer.from(secret) } }]);
}, 60_000);

afterAll(async () => {
  await session[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** A tenant of the Go Steward's, which may do everything in its database and does this. */
async function unrecorded(name: string, ...statements: readonly string[]): Promise<Tenancy> {
  const tenancy = mysqlTenancy(name);
  await makeAsGoSteward(config, tenancy);
  await asAdministrator(config, `GRANT ALL PRIVILEGES ON ${identifier(name)}.* TO ${account(name)}`);
  const client = await rawMysql(config, tenantLogin({ tenancy, tls: undefined }));
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    client.destroy();
  }
  return tenancy;
}

const thief = [
  `CREATE FUNCTION loot() RETURNS LONGBLOB READS SQL DATA SQL SECURITY INVOKER
   RETURN (SELECT GROUP_CONCAT(value) FROM ${table(victim.schema)})`,
  'ALTER TABLE kine RENAME TO mine',
  `CREATE SQL SECURITY INVOKER VIEW kine AS SELECT CAST(1 AS UNSIGNED) AS id, CAST('/registry/a' AS BINARY) AS name, 1 AS created,
   0 AS deleted, 0 AS create_revision, 0 AS prev_revision, 0 AS lease, loot() AS value, NULL AS old_value`,
] as const;

test("a view that reads another tenant's data as the administrator is neither adopted nor copied", async () => {
  const attacker = await unrecorded('attacker', ...thief);
  const administrator = await rawMysql(config, administratorLogin(config));
  const [rows] = await administrator.query(`SELECT value FROM ${table(attacker.schema)}`);
  administrator.destroy();
  // Reading it returns the victim's data, so it must not be read.
  expect(String((rows as { value: unknown }[])[0]?.value)).toContain(secret);

  const adopting = session.ensure({ ...attacker, adopt: true });
  await expect(adopting).rejects.toMatchObject({ name: 'StoreError', reason: 'Failed' });
  await expect(adopting).rejects.toThrow(/view "kine", function "loot".*DROP/);
  await expect(adopting).rejects.not.toThrow(new RegExp(secret));
  // Nothing is recorded, so nothing is lent either.
  await expect(session.data?.(attacker)).rejects.toMatchObject({ reason: 'OwnedByAnother' });

  const [record] = halfMadeTenancies(config);
  await record?.make(attacker);
  await expect(session.data?.(attacker)).rejects.toThrow(/grants beyond the table/);
  await asAdministrator(config, `DROP USER ${account(attacker.user)}`);
  await expect(session.data?.(attacker)).rejects.toThrow(/view "kine", function "loot"/);
  await session.remove({ ...attacker, adopt: true });
}, 60_000);

test.each([
  ['view', 'CREATE VIEW other AS SELECT 1 AS a', 'DROP VIEW other'],
  ['function', 'CREATE FUNCTION other() RETURNS INT RETURN 1', 'DROP FUNCTION other'],
  ['procedure', 'CREATE PROCEDURE other() SELECT 1', 'DROP PROCEDURE other'],
  ['trigger', 'CREATE TRIGGER other BEFORE INSERT ON kine FOR EACH ROW SET NEW.lease = 1', 'DROP TRIGGER other'],
  ['event', 'CREATE EVENT other ON SCHEDULE EVERY 1 DAY DO DELETE FROM kine', 'DROP EVENT other'],
  ['sequence', 'CREATE SEQUENCE other', 'DROP SEQUENCE other'],
  ['engine', 'ALTER TABLE kine ENGINE=MyISAM', 'ALTER TABLE kine ENGINE=InnoDB'],
] as const)('a database with a(n) %s of its author is adopted once that is gone', async (kind, make, remedy) => {
  const tenancy = { ...(await unrecorded(`with-${kind}`, make)), adopt: true };
  const seen = kind === 'engine' ? 'uses engine "myisam"' : `${kind} "other"`;
  await expect(session.ensure(tenancy)).rejects.toThrow(seen);
  // A refused tenancy continues unchanged, and its tenant may remove the object.
  const client = await rawMysql(config, tenantLogin({ tenancy, tls: undefined }));
  await client.query(remedy);
  client.destroy();
  await session.ensure(tenancy);
  await using data = await session.data?.(tenancy);
  expect(await data?.count()).toBe(0);
});
