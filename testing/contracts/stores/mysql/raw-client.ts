import { createConnection } from 'mysql2/promise';
import type { Connection } from 'mysql2/promise';
import type { Tenant } from '../../../../stores/contract/driver-contract.ts';
import type { MysqlConfig } from '../../../../stores/mysql/driver.ts';

/** Who logs in, and how. */
export interface RawLogin {
  readonly user: string;
  readonly password: string;
  readonly database?: string | undefined;
  /** Absent: without TLS. */
  readonly ca?: string | undefined;
}

/** A direct connection of the library for any statements: tenants are not limited to ours. */
export async function rawMysql(config: MysqlConfig, login: RawLogin): Promise<Connection> {
  const [endpoint] = config.endpoints;
  const { user, password, database, ca } = login;
  const connection = await createConnection({
    host: endpoint?.host ?? '',
    port: endpoint?.port ?? 0,
    user,
    password,
    connectTimeout: 5000,
    // A tenant may send several statements at once.
    multipleStatements: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
    database,
    ...(ca !== undefined && { ssl: { ca, verifyIdentity: true } }),
  });
  connection.on('error', () => undefined);
  return connection;
}

/** Logs in as a tenant, with what its pods get. */
export function tenantLogin({ tenancy, tls }: Tenant): RawLogin {
  return { user: tenancy.user, password: tenancy.password ?? '', database: tenancy.schema, ca: tls?.ca };
}

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
