/** A quick-start server with an administrator's password, behind a Service of its name. */
export interface ServerPlan {
  /** Of its Service, and the beginning of the names of its Secrets. */
  readonly name: string;
  /** The user name that a new Secret gets. */
  readonly administrator: string;
  readonly namespace: string;
  /** E.g. `cluster.local`. */
  readonly clusterDomain: string;
}

/** Names of the Secrets of such a server. */
export interface ServerSecretNames {
  /** `username`, `password`: what the DataStore refers to, and what the server is first started with. */
  readonly credentials: string;
  /** `ca.crt`, `ca.key`. No pod mounts it. */
  readonly authority: string;
  /** `ca.crt`, `tls.crt`, `tls.key`: mounted by the server; a DataStore with TLS refers to its `ca.crt`. */
  readonly server: string;
}

/** The names of its Secrets, as config/datastores and the users' DataStores know them. */
export function serverSecretNames({ name }: Pick<ServerPlan, 'name'>): ServerSecretNames {
  return { credentials: `${name}-credentials`, authority: `${name}-ca`, server: `${name}-server-certs` };
}
