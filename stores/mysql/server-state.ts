import type { ServerState } from '../driver.ts';
import { StoreError } from '../store-error.ts';
import { textOf } from './connection.ts';
import type { MysqlConnection } from './connection.ts';
import { refuseOpenServer } from './public-grants.ts';
import { missingRights } from './grants.ts';
import { isSupportedMysql, mysqlFloor } from './version.ts';

/**
 * Reads the state of a server. Throws `MysqlError`, and `StoreError` Unauthorized when our privileges do not suffice or tenants
 * would not be isolated.
 */
export async function askServerState(connection: MysqlConnection): Promise<ServerState> {
  const missing = missingRights(await ownGrants(connection));
  if (missing.length > 0) {
    const help = "run GRANT ALL PRIVILEGES ON *.* TO '…'@'%' WITH GRANT OPTION";
    const text = `the account of spec.basicAuth lacks ${missing.join(', ')} on ${connection.endpoint}: ${help}`;
    throw new StoreError('Unauthorized', text);
  }
  await refuseOpenServer(connection);
  const { version } = connection.facts;
  const statement =
    'SELECT @@global.auto_increment_increment AS step, ' +
    '(SELECT SUM(DATA_LENGTH + INDEX_LENGTH) FROM information_schema.TABLES) AS bytes';
  const [row] = await connection.run(statement);
  return {
    version: `${version.number} (${version.flavor})`,
    supported: isSupportedMysql(version),
    floor: mysqlFloor,
    sizeBytes: Number(textOf(row?.bytes)),
    ...notesOf(connection, textOf(row?.step)),
  };
}

/** kine assumes that a missing id is a write in progress, and later fills it with a row of its own, one after the other. */
function notesOf({ endpoint }: MysqlConnection, step: string): Pick<ServerState, 'notes'> {
  if (step === '1') return {};
  const help =
    'set it to 1 (in a Galera cluster also wsrep_auto_increment_control = OFF, with one server that accepts writes)';
  return { notes: [`${endpoint}: auto_increment_increment is ${step}, which slows the tenants' watches: ${help}`] };
}

/** Our own grants. MariaDB includes those of the current role, MySQL only if the query names the roles. */
async function ownGrants(connection: MysqlConnection): Promise<readonly string[]> {
  const lines = async (statement: string): Promise<readonly string[]> =>
    (await connection.run(statement)).map((row) => textOf(Object.values(row)[0]));
  if (connection.facts.version.flavor === 'MariaDB') return lines('SHOW GRANTS');
  const roles = textOf((await connection.run('SELECT CURRENT_ROLE() AS roles'))[0]?.roles);
  return lines(roles === '' || roles === 'NONE' ? 'SHOW GRANTS' : `SHOW GRANTS FOR CURRENT_USER() USING ${roles}`);
}
