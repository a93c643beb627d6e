import type { Connection, RowDataPacket } from 'mysql2/promise';
import { account, identifier } from '../../../../stores/mysql/sql.ts';

/** What every server has of its own. */
const serversOwn = new Set(['information_schema', 'mysql', 'performance_schema', 'sys']);

/** Where grants below the server's own level are kept; not `procs_priv`, whose rows no test makes. */
const grantTables = ['db', 'tables_priv', 'columns_priv', 'proxies_priv'];

async function rows(client: Connection, statement: string): Promise<readonly RowDataPacket[]> {
  return (await client.query<RowDataPacket[]>(statement))[0];
}

/** The databases and users of a server, exactly as it has them. */
export async function namesOfMysql(
  client: Connection,
): Promise<{ schemas: readonly string[]; users: readonly string[] }> {
  const schemas = await rows(client, 'SELECT SCHEMA_NAME AS name FROM information_schema.SCHEMATA');
  const users = await rows(client, 'SELECT DISTINCT User AS name FROM mysql.user');
  return { schemas: schemas.map(({ name }) => String(name)), users: users.map(({ name }) => String(name)) };
}

/** Every account with its requirements, every grant, every table with its rows and definition; no password. */
export async function dumpMysql(client: Connection): Promise<readonly string[]> {
  const lines: string[] = [];
  const accounts = 'SELECT User, Host, ssl_type, max_user_connections FROM mysql.user';
  for (const row of await rows(client, accounts)) {
    lines.push(`account ${JSON.stringify(row)}`);
    for (const grant of await rows(client, `SHOW GRANTS FOR ${account(String(row.User), String(row.Host))}`)) {
      lines.push(`grant ${String(Object.values(grant)[0]).replace(/ IDENTIFIED BY PASSWORD '[^']*'/, '')}`);
    }
  }
  for (const name of grantTables) {
    for (const row of await rows(client, `SELECT * FROM mysql.${name}`)) {
      lines.push(`mysql.${name} ${JSON.stringify({ ...row, Timestamp: undefined })}`);
    }
  }
  const { schemas } = await namesOfMysql(client);
  for (const schema of schemas.filter((name) => !serversOwn.has(name))) {
    lines.push(`database ${schema}`);
    for (const row of await rows(client, `SHOW TABLES FROM ${identifier(schema)}`)) {
      const name = String(Object.values(row)[0]);
      const table = `${identifier(schema)}.${identifier(name)}`;
      const [definition] = await rows(client, `SHOW CREATE TABLE ${table}`);
      lines.push(`table ${table} ${String(definition?.['Create Table']).replace(/ AUTO_INCREMENT=\d+/, '')}`);
      for (const content of await rows(client, `SELECT * FROM ${table}`))
        lines.push(`row ${table} ${JSON.stringify(content)}`);
    }
  }
  return lines.sort();
}
