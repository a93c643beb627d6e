import type { Driver } from '../driver.ts';
import { loginClientTls } from '../login-client-tls.ts';
import { loginChecksum, readLoginConfig } from '../login-config.ts';
import type { LoginConfig } from '../login-config.ts';
import { MysqlClient } from './client.ts';
import { MysqlSession } from './session.ts';
import { kinePool } from './sql.ts';

/** A DataStore of driver MySQL with its credentials resolved. Never logged. */
export type MysqlConfig = LoginConfig;

/**
 * Options of kine's client (https://github.com/go-sql-driver/mysql#parameters): it gives up what does not answer, and a
 * connection to a server that has become a replica, where the next one may lead to its successor.
 */
const options = 'timeout=5s&readTimeout=30s&writeTimeout=30s&rejectReadOnly=true';

/**
 * MySQL and MariaDB: a tenancy is a database with kine's table, and an account that may read and write that table and nothing else. kine
 * supports one server: tenants use the first endpoint, which should be an address that follows a failover (a Service, a virtual address);
 * the manager finds the one that accepts writes among all endpoints.
 */
export const mysqlDriver: Driver<MysqlConfig> = {
  name: 'MySQL',
  capabilities: { passwords: true, kine: true, opensUncopied: false, servesOneTenant: () => false },
  configure: readLoginConfig,
  checksum: loginChecksum,
  bind: (config) => ({
    kind: 'kine',
    endpoint: `mysql://$(DB_USER):$(DB_PASSWORD)@tcp($(DB_CONNECTION_STRING))/$(DB_SCHEMA)?${options}`,
    connection: config.endpoints[0]?.name ?? '',
    arguments: kinePool,
  }),
  clientTls: loginClientTls,
  open: async (config, signal) => {
    signal.throwIfAborted();
    // Loaded on first use: a manager without such a store does not need the client library.
    const { openMysqlConnection } = await import('./open-connection.ts');
    return new MysqlSession(new MysqlClient(config, openMysqlConnection));
  },
  isolation: async () => (await import('./isolation/probe.ts')).mysqlProbe,
};
