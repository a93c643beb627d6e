import { clusterNameLabel } from '../../../api/cluster-api/names.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Key, Resource } from '../../../api/meta.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import type { Connection } from '../../../runtime/client/connection.ts';
import { connectionChecksum } from '../../../runtime/client/connection.ts';
import type { ClusterOptions } from '../../../runtime/client/http-cluster.ts';
import { InformerFactory } from '../../../runtime/cache/informer-factory.ts';
import type { Logger } from '../../../runtime/observe/logger.ts';
import type { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../../runtime/cache/object-slot.ts';
import type { CircuitBreakerClient } from './circuit-breaker-client.ts';
import { circuitBreakerClient } from './circuit-breaker-client.ts';

/** What the registry works with. */
export interface ExternalClustersOptions {
  /** The management cluster, where the Secrets with kubeconfigs are. */
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Logger;
  /** Closes what a deleted StewardControlPlane used unless another one uses it. */
  readonly memory: ObjectMemory;
  /** In [0, 1): spreads retries. */
  readonly random: () => number;
  /** Opens a client within the given limits. */
  readonly open: (connection: Connection, limits: ClusterOptions) => Cluster;
  /** Enqueues a StewardControlPlane. */
  readonly enqueue: (scp: Key) => void;
}

/** A StewardControlPlane that uses another cluster. */
export interface ExternalUser {
  readonly uid: string;
  readonly key: Key;
}

/** What one request to another cluster may cost: its answers are not ours to trust. */
export const externalLimits = {
  name: 'external',
  connections: 8,
  timeoutMs: 10_000,
  maxBodyBytes: 16 * 1024 * 1024,
  maxLineBytes: 2 * 1024 * 1024,
} as const satisfies ClusterOptions;

const maxTenants = 10_000;

/** One watch with those who listen: an object's name to its users. */
interface Watching {
  readonly factory: InformerFactory;
  readonly users: Map<string, { readonly name: string; readonly key: Key }>;
}

interface Open {
  readonly client: CircuitBreakerClient;
  readonly users: Set<string>;
}

interface Used {
  secret?: string;
  client?: string;
  tenants?: string;
}

/**
 * Clients of the clusters that host control planes: one for each server and credentials, common to all of its users, with
 * one watch for each namespace there, and one on each Secret with a kubeconfig. Unused clients are closed.
 */
export class ExternalClusters {
  readonly #options: ExternalClustersOptions;
  readonly #secrets = new Map<string, Watching>();
  readonly #clients = new Map<string, Open>();
  readonly #tenants = new Map<string, Watching>();
  readonly #users: ObjectSlot<Used>;

  constructor(options: ExternalClustersOptions) {
    this.#options = options;
    this.#users = options.memory.slot('external clusters', {
      dispose: (used, uid) => {
        this.#leave(this.#secrets, used.secret, uid);
        this.#leaveClient(used, uid);
      },
    });
  }

  /** Clients that are open, and watches that run. */
  get size(): { readonly clients: number; readonly watches: number } {
    return { clients: this.#clients.size, watches: this.#secrets.size + this.#tenants.size };
  }

  /** From now on a change of the Secret enqueues its user: rotated credentials take effect at once. */
  followSecret(user: ExternalUser, secret: Key & { readonly namespace: string }): void {
    const { namespace, name } = secret;
    const id = `${namespace}/${name}`;
    const used = this.#used(user);
    if (used.secret !== id) this.#leave(this.#secrets, used.secret, user.uid);
    used.secret = id;
    const watching = this.#watching(this.#secrets, id, this.#options.cluster, {
      kind: kinds.Secret,
      namespace,
      fieldSelector: `metadata.name=${name}`,
      metadataOnly: true,
    });
    watching.users.set(user.uid, { name, key: user.key });
  }

  /** The client of the cluster of a connection; it stays the registry's and must not be closed. Throws `KubeconfigError`. */
  borrow(user: ExternalUser, connection: Connection): CircuitBreakerClient {
    const checksum = connectionChecksum(connection);
    const used = this.#used(user);
    let open = this.#clients.get(checksum);
    if (open === undefined) {
      const { clock, random } = this.#options;
      const client = circuitBreakerClient(this.#options.open(connection, externalLimits), { clock, random });
      open = { client, users: new Set() };
      this.#clients.set(checksum, open);
    }
    open.users.add(user.uid);
    if (used.client !== checksum) this.#leaveClient(used, user.uid);
    used.client = checksum;
    return open.client;
  }

  /** From now on a change of the TenantControlPlane behind the user's client enqueues that user. */
  followTenant(user: ExternalUser, tenant: Key & { readonly namespace: string }): void {
    const used = this.#used(user);
    const open = used.client === undefined ? undefined : this.#clients.get(used.client);
    if (used.client === undefined || open === undefined) return;
    const id = `${used.client}/${tenant.namespace}`;
    if (used.tenants !== id) this.#leave(this.#tenants, used.tenants, user.uid);
    used.tenants = id;
    const watching = this.#watching(this.#tenants, id, open.client, {
      kind: tenantControlPlane,
      namespace: tenant.namespace,
      labelSelector: clusterNameLabel,
      identityOnly: true,
      optional: true,
      maxObjects: maxTenants,
    });
    watching.users.set(user.uid, { name: tenant.name, key: user.key });
  }

  /** The user needs nothing anymore. */
  release(uid: string): void {
    this.#users.delete(uid);
  }

  /** Closes everything. */
  async close(): Promise<void> {
    const factories = [...this.#secrets.values(), ...this.#tenants.values()].map(({ factory }) => factory.close());
    const clients = [...this.#clients.values()].map(({ client }) => client.close());
    for (const map of [this.#secrets, this.#tenants, this.#clients]) map.clear();
    this.#users.clear();
    await Promise.all([...factories, ...clients]);
  }

  #used(user: ExternalUser): Used {
    return this.#users.getOrMake(user.uid, () => ({}));
  }

  #watching(
    among: Map<string, Watching>,
    id: string,
    cluster: Cluster,
    selection: Parameters<InformerFactory['informer']>[0],
  ): Watching {
    const known = among.get(id);
    if (known !== undefined) return known;
    const { clock, random, log } = this.#options;
    const watching: Watching = {
      factory: new InformerFactory({ cluster, clock, random, log }),
      users: new Map(),
    };
    among.set(id, watching);
    watching.factory.informer(selection).subscribe((old, now) => {
      this.#notify(watching, now ?? old);
    });
    return watching;
  }

  #notify({ users }: Watching, changed: Resource | undefined): void {
    for (const { name, key } of users.values()) if (name === changed?.metadata.name) this.#options.enqueue(key);
  }

  #leave(among: Map<string, Watching>, id: string | undefined, uid: string): void {
    const watching = id === undefined ? undefined : among.get(id);
    if (id === undefined || watching === undefined) return;
    watching.users.delete(uid);
    if (watching.users.size > 0) return;
    among.delete(id);
    this.#end(watching.factory);
  }

  #leaveClient(used: Used, uid: string): void {
    this.#leave(this.#tenants, used.tenants, uid);
    delete used.tenants;
    const open = used.client === undefined ? undefined : this.#clients.get(used.client);
    if (used.client === undefined || open === undefined) return;
    open.users.delete(uid);
    if (open.users.size > 0) return;
    this.#clients.delete(used.client);
    this.#end(open.client);
  }

  /** Closing waits for what runs; nothing waits for it. */
  #end(closing: { close(): Promise<void> }): void {
    closing.close().catch((error: unknown) => {
      this.#options.log.warn('an unused client or watch of a hosting cluster could not be closed', { error });
    });
  }
}
