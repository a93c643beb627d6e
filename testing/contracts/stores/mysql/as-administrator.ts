import type { MysqlConfig } from '../../../../stores/mysql/driver.ts';
import { rawMysql } from '../../../../stores/mysql/isolation/raw-client.ts';
import type { RawLogin } from '../../../../stores/mysql/isolation/raw-client.ts';

/** Logs in as the administrator. */
export function administratorLogin({ username, password, tls }: MysqlConfig): RawLogin {
  return { user: username, password, ca: tls?.ca };
}

/** Runs statements as the administrator, one after the other. */
export async function asAdministrator(config: MysqlConfig, ...statements: readonly string[]): Promise<void> {
  const connection = await rawMysql(config, administratorLogin(config));
  try {
    for (const statement of statements) await connection.query(statement);
  } finally {
    connection.destroy();
  }
}
