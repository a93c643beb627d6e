import { randomUUID } from 'node:crypto';
import type { Connection } from 'mysql2/promise';
import type { Tenant } from '../../driver.ts';
import { reaching } from '../../isolation/attempt.ts';
import type { Attempt } from '../../isolation/attempt.ts';
import { ownershipSchema } from '../names.ts';
import { account, identifier, literal, table } from '../sql.ts';
import { look, statement } from './attempts.ts';

/** Reads and writes of the neighbor's table, of the records of owners, and of the server's own. */
export function dataAttacks(client: Connection, own: string, victim: string): readonly Attempt[] {
  const [mine, theirs] = [table(own), table(victim)];
  const owners = `${identifier(ownershipSchema)}.tenancies`;
  const tenants = [
    `SELECT * FROM ${theirs}`,
    `SELECT COUNT(*) FROM ${theirs}`,
    `SELECT 1 FROM ${theirs} LIMIT 0`,
    `SELECT * FROM ${mine} UNION SELECT * FROM ${theirs}`,
    `SELECT (SELECT value FROM ${theirs} LIMIT 1)`,
    `INSERT INTO ${mine} (name, value) SELECT name, value FROM ${theirs}`,
    `INSERT INTO ${theirs} (name) VALUES ('x')`,
    `REPLACE INTO ${theirs} (id, name) VALUES (1, 'x')`,
    `UPDATE ${theirs} SET value = 'x'`,
    `UPDATE ${mine} AS m, ${theirs} AS t SET m.value = t.value`,
    `DELETE FROM ${theirs}`,
    `DELETE t FROM ${mine} AS m, ${theirs} AS t`,
    `TRUNCATE TABLE ${theirs}`,
    `HANDLER ${theirs} OPEN`,
    `LOCK TABLES ${theirs} READ`,
    `LOCK TABLES ${theirs} WRITE`,
    `USE ${identifier(victim)}`,
    `SHOW TABLES FROM ${identifier(victim)}`,
    `SHOW CREATE TABLE ${theirs}`,
    `SHOW COLUMNS FROM ${theirs}`,
    `SHOW INDEX FROM ${theirs}`,
    `CHECKSUM TABLE ${theirs}`,
    `ANALYZE TABLE ${theirs}`,
    `EXPLAIN SELECT * FROM ${theirs}`,
    `PREPARE s FROM ${literal(`SELECT * FROM ${theirs}`)}; EXECUTE s`,
    `SELECT 1; SELECT * FROM ${theirs}`,
    `CREATE TEMPORARY TABLE ${identifier(own)}.x SELECT * FROM ${theirs}`,
    `CREATE VIEW ${identifier(own)}.x AS SELECT * FROM ${theirs}`,
    `DROP TABLE ${theirs}`,
    `ALTER TABLE ${theirs} ADD COLUMN x INTEGER`,
    `RENAME TABLE ${theirs} TO ${identifier(own)}.x`,
    `ALTER TABLE ${mine} RENAME ${identifier(victim)}.x`,
    `CREATE TRIGGER ${identifier(victim)}.x BEFORE INSERT ON ${theirs} FOR EACH ROW SET NEW.value = 'x'`,
    `CREATE INDEX x ON ${theirs} (lease)`,
    `SELECT * FROM ${owners} LIMIT 1`,
    'SELECT * FROM mysql.user LIMIT 1',
    'SELECT * FROM mysql.db LIMIT 1',
    'SELECT * FROM mysql.tables_priv LIMIT 1',
    'SELECT * FROM mysql.innodb_table_stats LIMIT 1',
  ];
  const server = [
    `UPDATE ${owners} SET owner = 'x'`,
    `DELETE FROM ${owners}`,
    "UPDATE mysql.user SET authentication_string = ''",
  ];
  return [
    ...reaching(
      'tenants',
      tenants.map((text) => statement(client, text)),
    ),
    ...reaching(
      'server',
      server.map((text) => statement(client, text)),
    ),
  ];
}

/** Statements that would extend the tenancy beyond one table. */
export function ownSchemaAttacks(client: Connection, own: string): readonly Attempt[] {
  const schema = identifier(own);
  const tenants = [
    `CREATE TABLE ${schema}.more (id INTEGER)`,
    `DROP TABLE ${table(own)}`,
    `ALTER TABLE ${table(own)} DROP COLUMN lease`,
    `CREATE VIEW ${schema}.more AS SELECT 1`,
    `CREATE PROCEDURE ${schema}.more() SELECT 1`,
    `CREATE FUNCTION ${schema}.more() RETURNS INTEGER RETURN 1`,
    `CREATE EVENT ${schema}.more ON SCHEDULE EVERY 1 SECOND DO DELETE FROM ${table(own)}`,
    `CREATE TRIGGER ${schema}.more BEFORE INSERT ON ${table(own)} FOR EACH ROW SET NEW.value = 'x'`,
    `DROP DATABASE ${schema}`,
    `ALTER DATABASE ${schema} CHARACTER SET latin1`,
  ];
  const server = [`CREATE DATABASE ${identifier(`${own}x`)}`];
  return [
    ...reaching(
      'tenants',
      tenants.map((text) => statement(client, text)),
    ),
    ...reaching(
      'server',
      server.map((text) => statement(client, text)),
    ),
  ];
}

/** Accounts, rights, files and the server itself; `victimThread` is a connection of the victim's. */
export function adminAttacks(
  client: Connection,
  attacker: Tenant,
  victim: Tenant,
  victimThread: number,
): readonly Attempt[] {
  const [own, other] = [account(attacker.tenancy.user), account(victim.tenancy.user)];
  const theirs = table(victim.tenancy.schema);
  const tenants = [
    `ALTER USER ${other} IDENTIFIED BY 'x'`,
    `SET PASSWORD FOR ${other} = '*6BB4837EB74329105EE4568DDA7DC67ED2CA2AD9'`,
    `DROP USER ${other}`,
    `SHOW GRANTS FOR ${other}`,
    `SHOW CREATE USER ${other}`,
    `ALTER USER ${own} WITH MAX_USER_CONNECTIONS 0`,
    `GRANT SELECT ON ${theirs} TO ${own}`,
    `GRANT ALL PRIVILEGES ON *.* TO ${own}`,
    `GRANT SELECT ON ${table(attacker.tenancy.schema)} TO ${other}`,
    `GRANT PROXY ON ${other} TO ${own}`,
    `REVOKE ALL PRIVILEGES, GRANT OPTION FROM ${other}`,
    "SET SESSION sql_log_bin = 'OFF'",
    `KILL ${victimThread}`,
    'SHOW BINARY LOGS',
    'SHOW REPLICA STATUS',
    'SHOW ENGINE INNODB STATUS',
    'SELECT * FROM information_schema.INNODB_TRX',
    `LOAD DATA INFILE '/etc/passwd' INTO TABLE ${table(attacker.tenancy.schema)} (value)`,
  ];
  const server = [
    // A server that allows it reads its whole buffer pool for that.
    'SELECT * FROM information_schema.INNODB_BUFFER_PAGE LIMIT 1',
    "CREATE USER 'mallory'@'%' IDENTIFIED BY 'x'",
    "CREATE ROLE 'mallory'",
    `RENAME USER ${other} TO 'mallory'@'%'`,
    'FLUSH PRIVILEGES',
    'FLUSH TABLES WITH READ LOCK',
    'FLUSH STATUS',
    'SET GLOBAL max_connections = 10000',
    "SET GLOBAL general_log = 'ON'",
    'SET GLOBAL local_infile = 1',
    'SET GLOBAL read_only = 1',
    'SHUTDOWN',
    'PURGE BINARY LOGS BEFORE NOW()',
    'START REPLICA',
    "INSTALL PLUGIN x SONAME 'x.so'",
    "CREATE FUNCTION steward_x RETURNS INTEGER SONAME 'x.so'",
    "CREATE SERVER x FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'localhost')",
    `SELECT * FROM ${table(attacker.tenancy.schema)} INTO OUTFILE ${literal(`../${randomUUID()}`)}`,
    `SELECT 'x' INTO DUMPFILE ${literal(`../${randomUUID()}`)}`,
  ];
  return [
    ...reaching('tenants', [
      ...tenants.map((text) => statement(client, text)),
      look(client, "SELECT LOAD_FILE('/etc/passwd') AS text", 'root:'),
    ]),
    ...reaching(
      'server',
      server.map((text) => statement(client, text)),
    ),
  ];
}

/** Reads of the catalogs. */
export function catalogAttacks(client: Connection, victim: Tenant): readonly Attempt[] {
  const { schema, user } = victim.tenancy;
  // Filtered, because a server with many tenants would answer with megabytes.
  const [isSchema, isUser] = [`= ${literal(schema)}`, `LIKE ${literal(`%${user}%`)}`];
  const texts = [
    // Not LIKE: taken for a pattern, the name of a victim may match the attacker's own, which it may see.
    [`SHOW DATABASES WHERE \`Database\` ${isSchema}`, schema],
    [`SHOW DATABASES WHERE \`Database\` = ${literal(ownershipSchema)}`, ownershipSchema],
    ['SHOW PROCESSLIST', user],
    ['SHOW FULL PROCESSLIST', user],
    [`SELECT * FROM information_schema.SCHEMATA WHERE SCHEMA_NAME ${isSchema}`, schema],
    ...['TABLES', 'COLUMNS', 'STATISTICS', 'TABLE_CONSTRAINTS', 'KEY_COLUMN_USAGE', 'PARTITIONS'].map(
      (view) => [`SELECT * FROM information_schema.${view} WHERE TABLE_SCHEMA ${isSchema}`, schema] as const,
    ),
    ...['TABLE_PRIVILEGES', 'USER_PRIVILEGES', 'SCHEMA_PRIVILEGES'].map(
      (view) => [`SELECT * FROM information_schema.${view} WHERE GRANTEE ${isUser}`, user] as const,
    ),
    // Single columns: others hold this very statement, which names the victim, where users compare equal in upper and lower case.
    [`SELECT USER FROM information_schema.PROCESSLIST WHERE USER = ${literal(user)}`, user],
    [`SELECT USER FROM performance_schema.processlist WHERE USER = ${literal(user)}`, user],
    [`SELECT USER FROM performance_schema.accounts WHERE USER = ${literal(user)}`, user],
    [`SELECT PROCESSLIST_USER FROM performance_schema.threads WHERE PROCESSLIST_USER = ${literal(user)}`, user],
    [
      `SELECT SCHEMA_NAME FROM performance_schema.events_statements_summary_by_digest WHERE SCHEMA_NAME ${isSchema}`,
      schema,
    ],
  ] as const;
  return reaching(
    'tenants',
    texts.map(([text, forbidden]) => look(client, text, forbidden)),
  );
}
