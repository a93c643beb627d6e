import { systemClock } from '../runtime/clock.ts';
import { openCluster } from '../runtime/client/http-cluster.ts';
import type { Logger } from '../runtime/observe/logger.ts';
import { bootstrapServer } from '../stores/bootstrap/bootstrap-server.ts';
import type { ServerBootstrap } from '../stores/bootstrap/bootstrap-server.ts';
import { bootstrapEtcd } from '../stores/etcd/bootstrap/bootstrap.ts';
import { bootstrapNatsAccounts } from '../stores/nats/bootstrap-accounts.ts';
import { StoreError } from '../stores/store-error.ts';
import { dataStore } from '../api/steward/v1alpha1/data-store.ts';
import { connectionOf } from './connection-of.ts';
import { datastoreBootstrapFlags, serverBootstrapFlags } from './flags/datastore-bootstrap-flags.ts';
import { readFlags, UsageError } from './flags/flags.ts';
import { goDuration } from '../api/go-duration.ts';
import { quickStartDataStore } from './quick-start-data-store.ts';
import { untilAnswered } from './until-answered.ts';

const fieldManager = 'steward-datastore-bootstrap';

/** The common inputs of all bootstraps. */
type Tools = Omit<ServerBootstrap, 'plan'>;
type Place = Pick<ServerBootstrap['plan'], 'namespace' | 'clusterDomain'>;

const withPassword =
  (name: string, administrator: string) =>
  async (place: Place, tools: Tools): Promise<void> => {
    await bootstrapServer({ plan: { ...place, name, administrator }, ...tools });
  };

/** The stores beside etcd, by what they are called on the command line. */
const servers: ReadonlyMap<string, (place: Place, tools: Tools) => Promise<void>> = new Map([
  ['postgres', withPassword('postgres', 'postgres')],
  ['mysql', withPassword('mysql', 'root')],
  ['nats', withPassword('nats', 'steward')],
  [
    'nats-accounts',
    async (place, tools) => {
      await bootstrapNatsAccounts({ plan: { ...place, name: 'nats' }, ...tools });
    },
  ],
]);

type Environment = Readonly<Record<string, string | undefined>>;

/** A line per event, for the log of a Job. */
const lines: Logger = {
  debug: () => undefined,
  info: (message, fields) => {
    console.log(JSON.stringify({ level: 'info', message, ...fields }));
  },
  warn: (message, fields) => {
    console.warn(JSON.stringify({ level: 'warn', message, ...fields }));
  },
  error: (message, fields) => {
    console.error(JSON.stringify({ level: 'error', message, ...fields }));
  },
  with: () => lines,
};

/**
 * `steward datastore-bootstrap <store>`: makes the Secrets of a quick-start store (config/datastores), for etcd also waits
 * for its members and switches authentication on; the answer is the exit code. Safe to run again.
 * @param args what follows `datastore-bootstrap`.
 * @throws UsageError for arguments that mean nothing.
 */
export async function runDatastoreBootstrap(args: readonly string[], environment: Environment): Promise<number> {
  const [store = '', ...rest] = args;
  const server = servers.get(store);
  if (store !== 'etcd' && server === undefined) {
    const known = ['etcd', ...servers.keys()].join(', ');
    throw new UsageError(`datastore-bootstrap sets up one of ${known}, not "${store}"`);
  }
  const flags: Readonly<Record<keyof typeof serverBootstrapFlags, string>> & {
    readonly members?: number;
    readonly 'data-store'?: string;
  } = server === undefined ? readFlags(datastoreBootstrapFlags, rest) : readFlags(serverBootstrapFlags, rest);
  const { members = 1, 'data-store': name = '' } = flags;
  if (members < 1) throw new UsageError(`--members takes 1 or more, got ${members}`);
  const cluster = openCluster(connectionOf(flags.kubeconfig, environment), { name: 'management' });
  const signal = AbortSignal.timeout(goDuration(flags.timeout));
  const options = { cluster, clock: systemClock, log: lines, signal };
  const place = { namespace: flags.namespace, clusterDomain: flags['cluster-domain'] };
  try {
    await (server === undefined ? bootstrapEtcd({ plan: { ...place, members }, ...options }) : server(place, options));
    if (name !== '') {
      const manifest = quickStartDataStore({ ...place, name, members });
      // The webhook that admits it may start at the same time as the datastore.
      await untilAnswered(() => cluster.apply(dataStore, manifest, { fieldManager, signal }), options);
      lines.info('applied the DataStore', { name });
    }
    return 0;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    lines.error(error.message, { reason: error.reason });
    return 1;
  } finally {
    await cluster.close();
  }
}
