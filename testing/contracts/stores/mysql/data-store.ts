import { storedMeta } from '../../../../api/as-stored.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { startMariadb } from '../../../servers/mariadb-server.ts';
import type { MariadbOptions, MariadbServer } from '../../../servers/mariadb-server.ts';

/** A real server and the DataStore that describes it. */
export interface MysqlDataStore extends AsyncDisposable {
  readonly dataStore: DataStore;
  /** Absent when the server is not ours to stop. */
  readonly server?: MariadbServer;
}

const inline = (text: string): { readonly content: string } => ({ content: Buffer.from(text).toString('base64') });

/** A DataStore of driver MySQL with inline credentials. `endpoints` as `host:port`. */
export function describeMysql(
  endpoints: readonly string[],
  login: { readonly username: string; readonly password: string; readonly ca?: string | undefined },
): DataStore {
  const { username, password, ca } = login;
  return {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'DataStore',
    metadata: storedMeta({ name: 'mysql' }),
    spec: {
      driver: 'MySQL',
      endpoints,
      basicAuth: { username: inline(username), password: inline(password) },
      ...(ca !== undefined && { tlsConfig: { certificateAuthority: { certificate: inline(ca) } } }),
    },
  };
}

/**
 * Starts a MariaDB. With `STEWARD_TEST_MYSQL` set to `mysql://user:password@host:port` that server is taken instead, MySQL or
 * MariaDB, and with `STEWARD_TEST_MYSQL_CA` over TLS with the CA in that PEM text: its account must be allowed everything, and
 * nothing else may use the server.
 */
export async function startMysqlDataStore(options: MariadbOptions = {}): Promise<MysqlDataStore> {
  const { STEWARD_TEST_MYSQL: given, STEWARD_TEST_MYSQL_CA: ca } = process.env;
  if (given !== undefined) {
    const { host, username, password } = new URL(given);
    const login = { username: decodeURIComponent(username), password: decodeURIComponent(password), ca };
    return { dataStore: describeMysql([host], login), [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const server = await startMariadb(options);
  const login = { username: 'root', password: server.password, ca: server.ca?.certificate };
  return {
    dataStore: describeMysql([`127.0.0.1:${server.port}`], login),
    server,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
