import type { ManagementCluster } from '../../cluster/management-cluster.ts';
import { betweenVerifications } from './between-verifications.ts';
import { storeContents } from '../store-contents.ts';

/**
 * Everything that a quick-start store holds of tenants and of itself, by its own tools and not through the product: databases,
 * streams, users, roles, keys. One line each, sorted.
 */
export type StoreWitness = (cluster: ManagementCluster) => Promise<readonly string[]>;

const namespace = 'steward-system';
/** Keys, users and roles, by etcdctl. */
export const etcdWitness: StoreWitness = async (cluster) => {
  const { keys, users, roles } = await storeContents(cluster);
  const named = (kind: string, names: readonly string[]): readonly string[] => names.map((name) => `${kind} ${name}`);
  return [...named('key', keys), ...named('user', users), ...named('role', roles)].toSorted();
};

const betweenVerificationsOf =
  (witness: StoreWitness): StoreWitness =>
  (cluster) =>
    betweenVerifications(() => witness(cluster));

/** Databases, roles, settings of roles, and the recorded owners, by psql. */
export const postgresWitness: StoreWitness = betweenVerificationsOf(async (cluster) => {
  const query = `
    SELECT 'database ' || datname FROM pg_database
    UNION ALL SELECT 'role ' || rolname FROM pg_roles WHERE rolname !~ '^pg_'
    UNION ALL SELECT 'setting of ' || setrole || ' in ' || setdatabase FROM pg_db_role_setting`;
  const ask = async (database: string, sql: string): Promise<readonly string[]> => {
    const psql = ['psql', '-U', 'postgres', '-d', database, '-At', '-c', sql];
    return linesOf((await cluster.kubectl(['-n', namespace, 'exec', 'postgres-0', '--', ...psql])).stdout);
  };
  const owners = (): Promise<readonly string[]> =>
    ask('steward_tenancies', `SELECT 'owner of ' || schema || ' and ' || "user" FROM tenancies`);
  return withOwners(await ask('postgres', query), 'database steward_tenancies', owners);
});

/** Databases, users, rights on databases and tables, and the recorded owners, by the client of MariaDB. */
export const mysqlWitness: StoreWitness = betweenVerificationsOf(async (cluster) => {
  const secret = await cluster.client.read({ apiVersion: 'v1', kind: 'Secret', namespace, name: 'mysql-credentials' });
  const password = Buffer.from(secret?.data?.password ?? '', 'base64').toString();
  const query = `
    SELECT CONCAT('database ', SCHEMA_NAME) FROM information_schema.SCHEMATA
    UNION ALL SELECT CONCAT('user ', User, '@', Host) FROM mysql.user
    UNION ALL SELECT CONCAT('rights of ', User, ' on ', Db) FROM mysql.db
    UNION ALL SELECT CONCAT('rights of ', User, ' on ', Db, '.', Table_name) FROM mysql.tables_priv`;
  const ask = async (sql: string): Promise<readonly string[]> => {
    // By standard input: arguments are seen by all who list processes.
    const script = 'read -r MYSQL_PWD; export MYSQL_PWD; exec mariadb -u root -N -e "$0"';
    const exec = ['-n', namespace, 'exec', '-i', 'mysql-0', '--', 'sh', '-c', script, sql];
    return linesOf((await cluster.kubectl(exec, { input: `${password}\n` })).stdout);
  };
  const owners = (): Promise<readonly string[]> =>
    ask("SELECT CONCAT('owner of ', schema_name, ' and ', user_name) FROM `steward.butlerlabs.dev`.tenancies");
  return withOwners(await ask(query), 'database steward.butlerlabs.dev', owners);
});

/** In place of the database in which the product records owners, and which stays, what it holds. */
async function withOwners(
  lines: readonly string[],
  database: string,
  owners: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  if (!lines.includes(database)) return lines;
  return [...lines.filter((line) => line !== database), ...(await owners())].toSorted();
}

interface JetStreamAccount {
  readonly name: string;
  readonly stream_detail?: readonly { readonly name: string; readonly state: { readonly messages: number } }[];
}

/** Where the product records owners. It stays; what it holds of tenants does not. */
const recordsStream = 'KV_steward-tenancies';

/** Streams with their accounts, and how many owners are recorded, by the server's monitoring port. */
export const natsWitness: StoreWitness = betweenVerificationsOf(async (cluster) => {
  const pod = await cluster.waitFor({ apiVersion: 'v1', kind: 'Pod', namespace, name: 'nats-0' }, 'Ready');
  const address = pod?.status?.podIP;
  if (typeof address !== 'string') throw new Error('Pod nats-0 has no address.');
  const answer = await fetch(`http://${address}:8222/jsz?accounts=true&streams=true`);
  const { account_details: accounts = [] } = (await answer.json()) as { account_details?: JetStreamAccount[] };
  return accounts
    .flatMap(({ name: account, stream_detail: streams = [] }) =>
      streams.map(({ name, state }) => ({ account, name, messages: state.messages })),
    )
    .filter(({ name, messages }) => name !== recordsStream || messages > 0)
    .map(({ account, name, messages }) =>
      name === recordsStream ? `records of owners: ${messages}` : `stream ${name} of account ${account}`,
    )
    .toSorted();
});

function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .toSorted();
}
