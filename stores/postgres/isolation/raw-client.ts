import { Client } from 'pg';
import type { Tenant } from '../../driver.ts';
import type { LoginConfig } from '../../login-config.ts';

/** Who logs in, and where. */
export interface RawLogin {
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** `-c name=value` of the session. */
  readonly options?: string;
  readonly replication?: 'true' | 'database';
}

/** A direct connection of the library for any statements: tenants are not limited to ours. */
export async function rawPostgres(config: LoginConfig, tenant: Tenant, over: Partial<RawLogin> = {}): Promise<Client> {
  const { tenancy, tls } = tenant;
  const endpoint = config.endpoints.at(-1);
  const client = new Client({
    host: endpoint?.host ?? '',
    port: endpoint?.port ?? 0,
    user: tenancy.user,
    password: tenancy.password ?? '',
    database: tenancy.schema,
    connectionTimeoutMillis: 5000,
    query_timeout: 10_000,
    ssl: tls !== undefined && { ca: tls.ca, cert: tls.certificate, key: tls.key },
    ...over,
  });
  client.on('error', () => {
    // The server ends connections of tenants that are removed; the next statement reports it.
  });
  try {
    await client.connect();
  } catch (error) {
    await client.end();
    throw error;
  }
  return client;
}
