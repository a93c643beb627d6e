import type { KineBinding } from '../driver.ts';
import type { LoginConfig } from '../login-config.ts';
import { kineConnections } from './limits.ts';

/**
 * The configuration of kine. Its driver tries the endpoints one after the other and uses the first writable one; with a CA it verifies
 * each server's certificate and name (`verify-full`), without one it encrypts if the server offers it, without verification
 * (https://github.com/k3s-io/kine/blob/v0.16.4/pkg/drivers/pgsql/pgsql.go, https://pkg.go.dev/github.com/jackc/pgx/v5/pgconn#ParseConfig).
 */
export function postgresBinding({ endpoints, tls }: LoginConfig): KineBinding {
  const parameters = {
    application_name: 'kine',
    connect_timeout: '5',
    sslmode: tls === undefined ? 'prefer' : 'verify-full',
    target_session_attrs: 'read-write',
  };
  const query = new URLSearchParams(parameters).toString();
  return {
    kind: 'kine',
    endpoint: `postgres://$(DB_USER):$(DB_PASSWORD)@$(DB_CONNECTION_STRING)/$(DB_SCHEMA)?${query}`,
    connection: endpoints.map(({ name }) => name).join(','),
    arguments: { 'datastore-max-open-connections': String(kineConnections) },
  };
}
