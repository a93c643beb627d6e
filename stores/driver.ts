import type { DataStore, DataStoreSpec } from '../api/steward/v1alpha1/data-store.ts';
import type { CompactionRequest, CompactionStep } from './compaction.ts';
import type { DefragmentationRequest, DefragmentationStep } from './defragmentation.ts';
import type { Attack } from './isolation/attempt.ts';
import type { TenancyData } from './tenancy-data.ts';

/** Reads one key of a Secret; undefined when the Secret or the key is absent. */
export type ReadSecret = (reference: {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}) => Promise<Uint8Array | undefined>;

/** One tenant's part of a datastore. The names were chosen once and are recorded in the tenant's status. */
export interface Tenancy {
  /** Key prefix, database or bucket name, without slashes. */
  readonly schema: string;
  readonly user: string;
  /** Set for every tenancy of a driver with the capability `passwords`: 1 to 64 letters, digits, "-" and "_". */
  readonly password?: string;
  /** UID of the owner: a schema or user that belongs to another owner is refused. */
  readonly owner: string;
  /**
   * Adopt what exists under these names without a recorded owner: a tenancy that was created before owners were recorded.
   * Absent or false: such a tenancy is refused. A tenancy with another recorded owner is always refused.
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

/** A tenancy with the credentials of its tenant. */
export interface Tenant {
  readonly tenancy: Tenancy;
  readonly tls: ClientTls | undefined;
}

/** A tenant's own connection, made from nothing but the credentials that its pods get. */
export interface TenantHand extends AsyncDisposable {
  read(key: string): Promise<string | undefined>;
  write(key: string, value: string): Promise<void>;
}

/** How to act as tenants of a datastore, to prove that it isolates them. */
export interface IsolationProbe<Config = unknown> {
  /** Connects as a tenant. */
  connect(config: Config, tenant: Tenant): Promise<TenantHand>;
  /** What the attacker must not be able to do to the victim, who holds data, or to the server. */
  attack(config: Config, attacker: Tenant, victim: Tenant): Promise<Attack>;
  /** True for the refusal of a server, so that a broken connection does not pass for one. */
  readonly isRefusal: (error: unknown) => boolean;
  /**
   * True for every error that a server reports about an attempt: it was not allowed, although perhaps only because this server has no such
   * user, command or extension. False for a lost connection, and for a server that has no room.
   */
  readonly isAnswer: (error: unknown) => boolean;
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

/** What a tenant's pods need to reach their tenancy. */
export type StoreBinding = EtcdBinding | KineBinding;

/** Where a kine container finds `KineBinding.files` and the TLS files ca.crt, server.crt and server.key. */
export const kineFilesFolder = '/certs';

/** What a server reports about itself. */
export interface ServerState {
  readonly version: string;
  /** False below the driver's floor; `floor` says which. */
  readonly supported: boolean;
  readonly floor: string;
  /** Bytes in use, if the server reports them. */
  readonly sizeBytes?: number;
  /** Minor version whose format the stored data has, e.g. `3.6`, if the server distinguishes it from its own version. */
  readonly storageVersion?: string;
  /** Problems that a person should know although the datastore works, e.g. which endpoint does not answer. */
  readonly notes?: readonly string[];
}

/** What a tenancy occupies in its datastore. */
export interface TenancySize {
  /**
   * The bytes that its tenant is responsible for, as exactly as the datastore reports them. What is counted differs between drivers
   * (docs/how-to/observe.md), so sizes are compared only within one.
   */
  readonly bytes: number;
  /** What the tenant's API server finds there now: the same in all drivers, without history, indexes and free space. */
  readonly content: TenancyContent;
  /** What `Session.countWrites` says; absent where that has to be asked for, because counting costs something. */
  readonly writes?: number;
}

/** The live keys of a tenancy. */
export interface TenancyContent {
  /** About the number of the tenant's objects. */
  readonly keys: number;
  /** Bytes of the keys, as they are stored, and of their newest values. */
  readonly bytes: number;
}

/** One open administrative connection. All calls are idempotent. */
export interface Session extends AsyncDisposable {
  /** Throws `StoreError` with reason Unreachable, Unauthorized or Unsupported. */
  ping(): Promise<ServerState>;
  /**
   * Lets the API servers of tenants know up to which revision the datastore was compacted. Absent where they know it
   * themselves. Throws `StoreError`.
   */
  publishCompaction?(): Promise<void>;
  /**
   * Looks whether history fills the quota, and compacts it early if so, before the datastore refuses the writes of all tenants. It may be
   * repeated. Absent where history has no common limit. Throws `StoreError`.
   */
  compactEarly?(request: CompactionRequest): Promise<CompactionStep>;
  /**
   * Creates user, database or prefix, and grants, and completes a tenancy that is incomplete. Throws `StoreError` with reason
   * OwnedByAnother or InvalidName, without a change, when this owner cannot have the names.
   */
  ensure(tenancy: Tenancy): Promise<void>;
  /**
   * Removes all keys, users, roles, schemas and grants; succeeds when there are none, or when another owner has recorded the names.
   * Throws OwnedByAnother when something exists without a recorded owner, unless the tenancy sets `adopt`.
   */
  remove(tenancy: Tenancy): Promise<void>;
  /**
   * Revokes all access of the tenant's credentials, also over open connections, and retains its data: a copy that is no longer in use.
   * `ensure` restores the tenancy, `remove` removes it. Succeeds when there is none. Absent where a driver cannot copy.
   */
  revoke?(tenancy: Tenancy): Promise<void>;
  /**
   * Measures a tenancy, also one whose access is revoked; undefined when none is recorded under these names. It may read all of its data, so
   * the caller limits how often, and how many at once; `signal` ends it between two reads. Throws `StoreError` OwnedByAnother for the
   * tenancy of another owner.
   */
  measure(tenancy: Tenancy, signal: AbortSignal): Promise<TenancySize | undefined>;
  /**
   * How often a tenancy was written to, counted from some moment on: its creations, changes and deletions, those of its API server and of
   * kine among them, and what copies wrote. It only grows, until the count is reset to a lower number. It reads no data, but may
   * keep something open for some minutes to go on counting. Undefined when none is recorded under these names. Throws as `measure` does.
   */
  countWrites(tenancy: Tenancy, signal: AbortSignal): Promise<number | undefined>;
  /**
   * The data of a tenancy that `ensure` created, to copy it with administrative rights. Absent where a driver cannot copy.
   */
  data?(tenancy: Tenancy): Promise<TenancyData>;
  /**
   * What the permissions that the server has now let the users of other tenancies do, as text; empty if nothing. It finds what the grants of
   * an older tenancy, or a person, have left open. Absent where only the tenant's own permissions count.
   */
  openings?(): Promise<readonly string[]>;
  /**
   * Takes the next step to return free space to the disk, if there is one: at most one server is blocked meanwhile. Absent where servers
   * need none.
   */
  defragment?(request: DefragmentationRequest): Promise<DefragmentationStep>;
}

/** The capabilities in which drivers differ. Controllers check these and not the name of a driver. */
export interface DriverCapabilities {
  /** Tenants log in with a password: then each tenancy must carry one. */
  readonly passwords: boolean;
  /** kube-apiserver reaches the store through kine: then the keys of all tenants begin alike. */
  readonly kine: boolean;
  /** The fence of a tenancy can let keys through that are not copied: `TenancyData.openUncopied` has an effect. */
  readonly opensUncopied: boolean;
  /** True for a DataStore that cannot isolate tenants. */
  readonly servesOneTenant: (spec: DataStoreSpec) => boolean;
}

/** One wire protocol. `Config` holds resolved credentials and must not be logged. */
export interface Driver<Config = unknown> {
  readonly name: DataStoreSpec['driver'];
  readonly capabilities: DriverCapabilities;
  /** Resolves the DataStore's content and references. Throws `StoreError` naming the field that is missing or broken. */
  configure(store: DataStore, read: ReadSecret): Promise<Config>;
  /** A checksum over everything in the config, for reuse of sessions and for roll-outs. */
  checksum(config: Config): string;
  /** Pure: the configuration of the tenant's API server or kine. */
  bind(config: Config, tenancy: Tenancy): StoreBinding;
  /**
   * The tenant's client credentials. `current` is returned while it is valid for the config at `now`.
   * Undefined when the datastore uses no TLS.
   */
  clientTls(
    config: Config,
    tenancy: Tenancy,
    current: ClientTls | undefined,
    now: Date,
  ): Promise<ClientTls | undefined>;
  /**
   * Like `clientTls`, for a client that uses all of these datastores and can present only one certificate. Absent for other drivers than
   * etcd, because kube-apiserver supports overrides only for etcd.
   */
  sharedClientTls?(
    configs: readonly [Config, ...Config[]],
    tenancy: Tenancy,
    current: ClientTls | undefined,
    now: Date,
  ): Promise<ClientTls>;
  open(config: Config, signal: AbortSignal): Promise<Session>;
  /** Loads the code that acts as a tenant, on first use. */
  isolation(): Promise<IsolationProbe<Config>>;
}
