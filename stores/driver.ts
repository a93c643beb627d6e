import type { DataStore } from '../api/steward/v1alpha1/data-store.ts';
import type { TenancyData } from './tenancy-data.ts';

/** Reads one key of a Secret; undefined when the Secret or the key is absent. */
export type ReadSecret = (reference: {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}) => Promise<Uint8Array | undefined>;

/** One tenant's share of a store. Identifiers were chosen once and are recorded in the tenant's status. */
export interface Tenancy {
  /** Key prefix, database or bucket name, without slashes. */
  readonly schema: string;
  readonly user: string;
  /** Given to every tenancy of a driver with `passwords`: 1 to 64 letters, digits, "-" and "_". */
  readonly password?: string;
  /** UID of the owner: a schema or user that belongs to another owner is refused. */
  readonly owner: string;
  /**
   * Take over what exists under these names without a recorded owner: a tenancy made before owners were recorded.
   * Absent or false: such a tenancy is refused. What another owner has recorded is refused either way.
   */
  readonly adopt?: boolean;
}

/** Files of a tenant's client: mounted into its pods, never logged. */
export interface ClientTls {
  /** PEM. */
  readonly ca: string;
  /** PEM. */
  readonly certificate?: string;
  /** PEM. */
  readonly key?: string;
}

/** A store whose protocol kube-apiserver speaks. */
export interface EtcdBinding {
  readonly kind: 'etcd';
  /** `https://host:port`. */
  readonly endpoints: readonly string[];
  /** `--etcd-prefix`, with a leading slash. */
  readonly prefix: string;
}

/** A store that kube-apiserver reaches through kine in the same pod. */
export interface KineBinding {
  readonly kind: 'kine';
  /**
   * kine's `--endpoint`. It holds no credentials: the kubelet fills in $(DB_USER), $(DB_PASSWORD), $(DB_CONNECTION_STRING) and
   * $(DB_SCHEMA) from the datastore-config Secret.
   */
  readonly endpoint: string;
  /** Value of DB_CONNECTION_STRING: `host:port`, more than one separated by commas where kine's driver takes them. */
  readonly connection: string;
  /** Value of DB_USER, where it is not the tenancy's user. */
  readonly user?: string;
  /** Value of DB_PASSWORD, where it is not the tenancy's password. */
  readonly password?: string;
  /** kine's other flags, without leading dashes. The TLS files are not among them. */
  readonly arguments?: Readonly<Record<string, string>>;
  /** Secret files beside the TLS files in `kineFilesFolder`, by name. */
  readonly files?: Readonly<Record<string, string>>;
}

/** What a tenant's pods need to reach their share. */
export type StoreBinding = EtcdBinding | KineBinding;

/** Where a kine container finds `KineBinding.files` and the TLS files ca.crt, server.crt and server.key. */
export const kineFilesFolder = '/certs';

/** What a server said of itself. */
export interface ServerState {
  readonly version: string;
  /** False below the driver's floor; `floor` says which. */
  readonly supported: boolean;
  readonly floor: string;
  /** Bytes in use, where the server can tell. */
  readonly sizeBytes?: number;
  /** What a person should know although the store works, e.g. which endpoint does not answer. */
  readonly notes?: readonly string[];
}

/** One open administrative connection. All calls are idempotent. */
export interface Session extends AsyncDisposable {
  /** Throws `StoreError` with reason Unreachable, Unauthorized or Unsupported. */
  ping(): Promise<ServerState>;
  /**
   * User, database or prefix, and grants together; heals what is half made. Throws `StoreError` with reason OwnedByAnother or
   * InvalidName when the names cannot be this owner's, and changes nothing then.
   */
  ensure(tenancy: Tenancy): Promise<void>;
  /**
   * Leaves no key, user, role, schema or grant; succeeds when there is none, or when another owner has recorded the names.
   * Throws OwnedByAnother when something is there that has no recorded owner, unless the tenancy says `adopt`.
   */
  remove(tenancy: Tenancy): Promise<void>;
  /**
   * Takes the tenant's credentials everything, also over connections that are open, and keeps its data: a copy that is not in
   * use any more. `ensure` gives the tenant its share again, `remove` removes all. Succeeds when there is none. Absent where a
   * driver cannot copy.
   */
  revoke?(tenancy: Tenancy): Promise<void>;
  /**
   * The data of a tenancy that `ensure` made, for a copy with administrative rights. Absent where a driver cannot copy.
   */
  data?(tenancy: Tenancy): Promise<TenancyData>;
}

/** One wire protocol. `Config` holds resolved credentials and must not be logged. */
export interface Driver<Config = unknown> {
  readonly name: 'etcd' | 'MySQL' | 'PostgreSQL' | 'NATS';
  /** True when tenants log in with a password: then each tenancy must carry one. */
  readonly passwords: boolean;
  /** Resolves the DataStore's content and references. Throws `StoreError` naming the field that is missing or broken. */
  configure(store: DataStore, read: ReadSecret): Promise<Config>;
  /** A checksum over everything in the config, for reuse of sessions and for roll-outs. */
  checksum(config: Config): string;
  /** Pure: what the tenant's API server or kine is told. */
  bind(config: Config, tenancy: Tenancy): StoreBinding;
  /**
   * The tenant's client credentials. `current` is kept while it is valid for the config at `now`.
   * Undefined when the store uses no TLS.
   */
  clientTls(
    config: Config,
    tenancy: Tenancy,
    current: ClientTls | undefined,
    now: Date,
  ): Promise<ClientTls | undefined>;
  /**
   * As `clientTls`, for a client that uses all of these stores and can show one certificate only. Absent where stores are not
   * used so: kube-apiserver keeps single resources in etcd only.
   */
  sharedClientTls?(
    configs: readonly [Config, ...Config[]],
    tenancy: Tenancy,
    current: ClientTls | undefined,
    now: Date,
  ): Promise<ClientTls>;
  open(config: Config, signal: AbortSignal): Promise<Session>;
}
