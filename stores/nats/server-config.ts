import { operatorJwt, systemAccountJwt } from './operator.ts';
import type { OperatorKeys } from './operator.ts';

/** What the configuration file of a NATS server says besides its accounts. */
export interface NatsServerPlan {
  /** Its name among its peers, or `$NAME` for an environment variable. */
  readonly name: string;
  /** `host:port` for clients. */
  readonly listen: string;
  /** `host:port` for health probes (`/healthz`); none by default. */
  readonly monitor?: string;
  /** Folder that the server writes to. */
  readonly folder: string;
  /** The storage for all tenants together, e.g. `10GB`, which NATS reads as 10 GiB. */
  readonly storage: string;
  /** Files of the server's certificate; without them it uses no TLS. `ca` is what clients' certificates are checked against. */
  readonly tls?: { readonly certificate: string; readonly key: string; readonly ca?: string };
  /** Its peers, `host:port` each, when there are several servers. */
  readonly cluster?: { readonly listen: string; readonly routes: readonly string[] };
}

/**
 * Messages up to this size: kine stores an object as base64 within JSON, so that one of the API server's 1.5 MiB may need more
 * than two.
 */
export const natsPayload = '8MB';

/** How long a client may take to authenticate: long enough for a busy one. */
const patienceSeconds = 10;

const quoted = (text: string): string => (text.startsWith('$') ? text : JSON.stringify(text));

function tlsLines({ tls }: NatsServerPlan): readonly string[] {
  if (tls === undefined) return [];
  const verify = tls.ca === undefined ? [] : [`  ca_file: ${quoted(tls.ca)}`, '  verify: true'];
  return [
    'tls {',
    '  timeout: 5',
    `  cert_file: ${quoted(tls.certificate)}`,
    `  key_file: ${quoted(tls.key)}`,
    ...verify,
    '}',
  ];
}

function clusterLines({ cluster }: NatsServerPlan): readonly string[] {
  if (cluster === undefined) return [];
  const routes = cluster.routes.map((route) => quoted(`nats-route://${route}`)).join(', ');
  return ['cluster {', '  name: steward', `  listen: ${quoted(cluster.listen)}`, `  routes: [${routes}]`, '}'];
}

function commonLines(plan: NatsServerPlan): readonly string[] {
  return [
    `server_name: ${quoted(plan.name)}`,
    `listen: ${quoted(plan.listen)}`,
    ...(plan.monitor === undefined ? [] : [`http: ${quoted(plan.monitor)}`]),
    `max_payload: ${natsPayload}`,
    'jetstream {',
    `  store_dir: ${quoted(plan.folder)}`,
    `  max_file_store: ${plan.storage}`,
    '  max_memory_store: 64MB',
    '}',
    ...tlsLines(plan),
    ...clusterLines(plan),
  ];
}

/**
 * The part of a configuration that enables accounts as JWTs, as a DataStore with `spec.nats` needs it: the server trusts
 * the operator, accepts accounts from users of the system account, stores them below `folder`, and deletes them on request.
 */
export function accountsConfig(folder: string, keys: OperatorKeys): string {
  const lines = [
    `operator: ${quoted(operatorJwt(keys))}`,
    `system_account: ${keys.system.publicKey}`,
    `authorization { timeout: ${patienceSeconds} }`,
    'resolver {',
    '  type: full',
    `  dir: ${quoted(`${folder}/accounts`)}`,
    '  allow_delete: true',
    '  hard_delete: true',
    // A server that was offline learns within this time which credentials were changed meanwhile.
    '  interval: "10s"',
    '}',
    'resolver_preload {',
    `  ${keys.system.publicKey}: ${quoted(systemAccountJwt(keys))}`,
    '}',
  ];
  return `${lines.join('\n')}\n`;
}

/** The configuration of a server whose accounts are JWTs. */
export function accountServerConfig(plan: NatsServerPlan, keys: OperatorKeys): string {
  return `${commonLines(plan).join('\n')}\n${accountsConfig(plan.folder, keys)}`;
}

/** The configuration of a server with one login, which serves one tenant. */
export function loginServerConfig(
  plan: NatsServerPlan,
  login: { readonly user: string; readonly password: string },
): string {
  const lines = [
    ...commonLines(plan),
    'authorization {',
    `  timeout: ${patienceSeconds}`,
    `  user: ${quoted(login.user)}`,
    `  password: ${quoted(login.password)}`,
    '}',
  ];
  return `${lines.join('\n')}\n`;
}
