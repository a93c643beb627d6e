import type { Session, Tenancy } from '../../../../stores/driver.ts';
import { mysqlDriver } from '../../../../stores/mysql/driver.ts';
import type { MysqlConfig } from '../../../../stores/mysql/driver.ts';
import type { MariadbServer } from '../../../servers/mariadb-server.ts';

/** An endpoint of a configuration. */
export function mysqlEndpoint(port: number, host = '127.0.0.1'): MysqlConfig['endpoints'][number] {
  return { name: `${host}:${port}`, host, port };
}

/** A configuration with these servers as endpoints, in their order. */
export function mysqlConfigOf(...servers: readonly MariadbServer[]): MysqlConfig {
  const [first] = servers;
  return {
    endpoints: servers.map(({ port }) => mysqlEndpoint(port)),
    username: 'root',
    password: first?.password ?? '',
    ...(first?.ca && { tls: { ca: first.ca.certificate } }),
  };
}

/** An administrative session; the caller disposes of it. */
export function openMysql(config: MysqlConfig): Promise<Session> {
  return mysqlDriver.open(config, new AbortController().signal);
}

/** A tenancy with one name for all. */
export function mysqlTenancy(name: string, over: Partial<Tenancy> = {}): Tenancy {
  return { schema: name, user: name, owner: `uid-${name}`, password: `Pw-${name}`, ...over };
}
