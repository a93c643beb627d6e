import { parseDocument } from 'yaml';
import { LatestHeld } from './latest-held.ts';

/** A kubeconfig that cannot be used: where, why, and what would help. Never carries a credential. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
}

/** How a kubeconfig leads to a server: where it is, and as whom. */
export interface ServerAccess {
  /** The server as it names itself: `https://host:port`, with a path prefix if there is one. */
  readonly server: string;
  /** PEM bundle that must have signed the server's certificate; absent: the system's roots. */
  readonly ca?: string;
  /** PEM of the client's certificate; goes with `clientKey`. */
  readonly clientCert?: string;
  /** PEM of the client's private key. Secret. */
  readonly clientKey?: string;
  /** Bearer token. Secret. */
  readonly token?: string;
  /** A file that holds the bearer token and is read again as it rotates (bound service-account tokens do). */
  readonly tokenFile?: string;
  /** The name to verify in the server's certificate, when it is not the host of `server`. */
  readonly tlsServerName?: string;
}

/** One context of a kubeconfig. */
export interface KubeconfigContext {
  readonly cluster: string;
  readonly user: string;
  readonly access: ServerAccess;
}

export interface KubeconfigOptions {
  /** The context to use; `current-context` by default. */
  readonly context?: string;
  /** Reads a file the kubeconfig names, e.g. `certificate-authority`. Without it such fields are refused. */
  readonly readFile?: (path: string) => string;
}

type Fields = Readonly<Record<string, unknown>>;

const unsupportedUser: Readonly<Record<string, string>> = {
  exec: 'credential plugins',
  'auth-provider': 'auth providers',
  username: 'basic authentication',
  as: 'impersonated users',
  // Without a user, these have no effect: kubectl refuses them too, and to leave them out would act as somebody else.
  'as-uid': 'impersonated UIDs',
  'as-groups': 'impersonated groups',
  'as-user-extra': 'impersonated users',
};
const unsupportedCluster: Readonly<Record<string, string>> = {
  'insecure-skip-tls-verify': 'connections without server verification',
  'proxy-url': 'proxies',
};
/** A DNS name, with the underscore that names of machines may have, or an address; IPv6 in brackets. */
const host = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])$/;
const remedy = 'use a client certificate (client-certificate-data, client-key-data), a token or a tokenFile';

/** Those that were read last: one reconcile of a tenant reads the same ones many times. Keys of tenants that are gone do not stay. */
const latest = new LatestHeld<KubeconfigContext>(256);

/**
 * Reads one context of a kubeconfig (YAML or JSON, `v1` `Config`). Pure: files are read by `options.readFile` only.
 * Throws `KubeconfigError` for everything that is wrong with it, and nothing else.
 */
export function readKubeconfig(text: string, options: KubeconfigOptions = {}): KubeconfigContext {
  const isAlone = options.context === undefined && options.readFile === undefined;
  return isAlone ? latest.of(text, (one) => read(one, {})) : read(text, options);
}

function read(text: string, options: KubeconfigOptions): KubeconfigContext {
  const document = parseFields(text);
  const contextName = options.context ?? stringOf(document, 'current-context', 'kubeconfig');
  if (contextName === undefined) {
    throw new KubeconfigError('kubeconfig: current-context is empty and no context was given; set one of them');
  }
  const context = named(document, 'contexts', 'context', contextName);
  const where = `context "${contextName}"`;
  const cluster = required(context, 'cluster', where);
  const user = required(context, 'user', where);
  const access = Object.freeze({
    ...clusterPart(named(document, 'clusters', 'cluster', cluster), `cluster "${cluster}"`, options),
    ...userPart(named(document, 'users', 'user', user), `user "${user}"`, options),
  });
  return Object.freeze({ cluster, user, access });
}

function parseFields(text: string): Fields {
  let parsed: unknown;
  try {
    const document = parseDocument(text, { maxAliasCount: 0, logLevel: 'silent' } as { logLevel: 'silent' });
    const [first] = document.errors;
    // The library's own messages quote the text, which may hold a key.
    if (first !== undefined)
      throw new KubeconfigError(`kubeconfig: not YAML at line ${first.linePos?.[0].line ?? '?'} (${first.code})`);
    parsed = document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    if (error instanceof KubeconfigError) throw error;
    throw new KubeconfigError('kubeconfig: not YAML, or YAML with aliases; write each entry in full');
  }
  if (!isFields(parsed)) throw new KubeconfigError('kubeconfig: not a map; expected apiVersion: v1, kind: Config');
  return parsed;
}

function clusterPart(
  cluster: Fields,
  where: string,
  options: KubeconfigOptions,
): Pick<ServerAccess, 'server' | 'ca' | 'tlsServerName'> {
  refuse(cluster, unsupportedCluster, where, 'set the CA of the server instead');
  const server = required(cluster, 'server', where);
  const url = URL.parse(server);
  if (url?.protocol !== 'https:' || url.username !== '' || url.search !== '') {
    throw new KubeconfigError(`kubeconfig: ${where}: server must be an https:// URL without user or query`);
  }
  // The host reaches shells: people paste the command with which a worker joins.
  if (!host.test(url.hostname)) {
    throw new KubeconfigError(
      `kubeconfig: ${where}: server: the host ${JSON.stringify(url.hostname)} is neither a DNS name nor an IP address`,
    );
  }
  const ca = pem(cluster, 'certificate-authority', where, options);
  const tlsServerName = stringOf(cluster, 'tls-server-name', where);
  return { server: server.replace(/\/+$/, ''), ca, tlsServerName };
}

function userPart(user: Fields, where: string, options: KubeconfigOptions): Omit<ServerAccess, 'server'> {
  refuse(user, unsupportedUser, where, remedy);
  const clientCert = pem(user, 'client-certificate', where, options);
  const clientKey = pem(user, 'client-key', where, options);
  if ((clientCert === undefined) !== (clientKey === undefined)) {
    throw new KubeconfigError(
      `kubeconfig: ${where}: client-certificate and client-key must be set together, one is missing`,
    );
  }
  const tokenFile = stringOf(user, 'tokenFile', where);
  // Whoever wrote the kubeconfig could name the token of this process, and have it sent to a server of theirs.
  if (tokenFile !== undefined && options.readFile === undefined) {
    throw new KubeconfigError(
      `kubeconfig: ${where}: tokenFile: files are not supported here; embed a token or a certificate`,
    );
  }
  // As kubectl does: the file wins, because it is the one that is kept fresh.
  const token = tokenFile === undefined ? stringOf(user, 'token', where) : undefined;
  if (clientCert === undefined && token === undefined && tokenFile === undefined) {
    throw new KubeconfigError(`kubeconfig: ${where}: no credentials; ${remedy}`);
  }
  return {
    ...(clientCert === undefined || clientKey === undefined ? {} : { clientCert, clientKey }),
    token,
    tokenFile,
  };
}

function refuse(from: Fields, unsupported: Readonly<Record<string, string>>, where: string, help: string): void {
  for (const [field, what] of Object.entries(unsupported)) {
    const value = from[field];
    if (!isNothing(value)) {
      throw new KubeconfigError(`kubeconfig: ${where}: ${field}: ${what} are not supported; ${help}`);
    }
  }
}

/** Whether a field says nothing, as an empty list does. */
const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** `<field>-data` decoded, or the file that `<field>` names. */
function pem(from: Fields, field: string, where: string, options: KubeconfigOptions): string | undefined {
  const data = stringOf(from, `${field}-data`, where);
  if (data !== undefined) {
    const decoded = Buffer.from(data, 'base64').toString('utf8');
    if (!decoded.includes('-----BEGIN ')) {
      throw new KubeconfigError(`kubeconfig: ${where}: ${field}-data: not a base64-encoded PEM block`);
    }
    return decoded;
  }
  const path = stringOf(from, field, where);
  if (path === undefined) return undefined;
  if (options.readFile === undefined) {
    throw new KubeconfigError(
      `kubeconfig: ${where}: ${field}: files are not supported here; embed it as ${field}-data`,
    );
  }
  try {
    return options.readFile(path);
  } catch (error) {
    throw new KubeconfigError(`kubeconfig: ${where}: ${field}: cannot read ${path}`, { cause: error });
  }
}

function named(document: Fields, list: string, field: string, name: string): Fields {
  const entries = document[list];
  const found: unknown = Array.isArray(entries)
    ? (entries as unknown[]).find((entry) => isFields(entry) && entry.name === name)
    : undefined;
  const value = isFields(found) ? found[field] : undefined;
  if (!isFields(value)) throw new KubeconfigError(`kubeconfig: ${list}: no ${field} named "${name}"`);
  return value;
}

function required(from: Fields, field: string, where: string): string {
  const value = stringOf(from, field, where);
  if (value === undefined) throw new KubeconfigError(`kubeconfig: ${where}: ${field} is missing`);
  return value;
}

function stringOf(from: Fields, field: string, where: string): string | undefined {
  const value = from[field];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw new KubeconfigError(`kubeconfig: ${where}: ${field} must be a string`);
  return value;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
