import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { etcdDriver } from '../../../stores/etcd/driver.ts';
import { mysqlDriver } from '../../../stores/mysql/driver.ts';
import { natsDriver } from '../../../stores/nats/driver.ts';
import { postgresDriver } from '../../../stores/postgres/driver.ts';
import { startEtcdDataStore } from '../../../testing/contracts/stores/etcd/data-store.ts';
import { describeMysql } from '../../../testing/contracts/stores/mysql/data-store.ts';
import { startNatsDataStore } from '../../../testing/contracts/stores/nats/data-store.ts';
import { describePostgres } from '../../../testing/contracts/stores/postgres/data-store.ts';
import { startMariadb } from '../../../testing/servers/mariadb-server.ts';
import { startPostgres } from '../../../testing/servers/postgres-server.ts';
import type { FloodStore } from '../../flood/flood-rows.ts';
import { openDensityStore } from './density-store.ts';
import type { DensityStore, StartedServer } from './density-store.ts';
import { flagsOf, settingsOf } from './quick-start-settings.ts';

const quickStarts = path.join(import.meta.dirname, '../../../config/datastores');

/** The quick starts allow 500, which would end the curve: what 500 are enough for is calculated. */
const mostConnections = 4000;

/** Starts a datastore with TLS and the settings of its quick start, with its waiting for the disk. */
export function openStore(store: FloodStore): Promise<DensityStore> {
  switch (store) {
    case 'etcd':
      return openDensityStore(etcdDriver, startEtcdServer);
    case 'postgres':
      return openDensityStore(postgresDriver, startPostgresServer);
    case 'mysql':
      return openDensityStore(mysqlDriver, startMysqlServer);
    case 'nats':
      return openDensityStore(natsDriver, startNatsServer);
  }
}

/** Of etcd, what decides how it serves. */
const etcdFlags = [
  ...['auto-compaction-mode', 'auto-compaction-retention', 'quota-backend-bytes', 'watch-progress-notify-interval'],
];

async function startEtcdServer(): Promise<StartedServer> {
  const flags = flagsOf(await quickStart('etcd/stateful-set.yaml'), etcdFlags);
  const store = await startEtcdDataStore({ flags: { ...flags, 'unsafe-no-fsync': 'false' } });
  const { server, dataStore } = store;
  const [endpoint = ''] = server.endpoints;
  return {
    place: { server: 'etcd', port: Number(new URL(endpoint).port), folder: server.folder },
    dataStore,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

async function startPostgresServer(): Promise<StartedServer> {
  const given = settingsOf(await quickStart('postgres/postgresql.conf'), ['listen_addresses', 'hba_file', 'ssl']);
  const settings = { ...given, max_connections: String(mostConnections), log_statement: 'none' };
  const server = await startPostgres({ tls: true, settings });
  const { port, user, password, ca, folder } = server;
  return {
    place: { server: 'postgres', port, folder },
    dataStore: describePostgres({ endpoints: [`127.0.0.1:${port}`], username: user, password, ca }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function startMysqlServer(): Promise<StartedServer> {
  const given = settingsOf(await quickStart('mysql/steward.cnf'), ['ssl']);
  // What is not in the file is MariaDB's default, in place of what tests have.
  const defaults = { 'innodb-log-file-size': '96M', 'innodb-flush-method': 'O_DIRECT' };
  const settings = { ...defaults, ...given, max_connections: String(mostConnections) };
  const server = await startMariadb({ tls: true, settings });
  const { port, password, ca, folder } = server;
  return {
    place: { server: 'mariadbd', port, folder },
    dataStore: describeMysql([`127.0.0.1:${port}`], { username: 'root', password, ca: ca?.certificate }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function startNatsServer(): Promise<StartedServer> {
  const [sync] = /^ *sync_interval: .*$/m.exec(await quickStart('nats/nats.conf')) ?? [];
  if (sync === undefined) throw new Error('The quick start of NATS has no sync_interval.');
  const store = await startNatsDataStore({
    ...{ auth: 'accounts', tls: 'server', storage: '1TB' },
    // Of the part of JetStream, which ends with this line.
    edit: (config) => config.replace(/^ *max_memory_store: .*$/m, (line) => `${line}\n${sync}`),
  });
  const [endpoint = ''] = store.server.endpoints;
  return {
    place: { server: 'nats-server', port: Number(endpoint.split(':')[1]), folder: store.server.folder },
    dataStore: store.dataStore,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

function quickStart(file: string): Promise<string> {
  return readFile(path.join(quickStarts, file), 'utf8');
}
