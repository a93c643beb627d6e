import { createConnection } from 'mysql2/promise';
import type { Connection } from 'mysql2/promise';
import type { Tenant } from '../../driver.ts';
import type { LoginConfig } from '../../login-config.ts';

/** Who logs in, and how. */
export interface RawLogin {
  readonly user: string;
  readonly password: string;
  readonly database?: string | undefined;
  /** Absent: without TLS. */
  readonly ca?: string | undefined;
}

/** A direct connection of the library for any statements: tenants are not limited to ours. */
export async function rawMysql(config: LoginConfig, login: RawLogin): Promise<Connection> {
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
