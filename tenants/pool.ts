import type { Clock, Timer } from '../runtime/clock.ts';
import { connectionChecksum } from '../runtime/client/connection.ts';
import type { Connection } from '../runtime/client/connection.ts';
import type { Cluster } from '../runtime/client/cluster.ts';
import { elsewhereCluster } from '../runtime/client/elsewhere-cluster.ts';
import type { ClusterOptions } from '../runtime/client/http-cluster.ts';
import type { Logger } from '../runtime/observe/logger.ts';
import { silent } from '../runtime/observe/logger.ts';
import type { ObjectMemory } from '../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../runtime/cache/object-slot.ts';

/** How clients of tenants are opened and closed. */
export interface TenantPoolOptions {
  readonly clock: Clock;
  /** The client of a deleted tenant is closed. */
  readonly memory: ObjectMemory;
  /** Logs failures in the background; silent by default. */
  readonly log?: Logger;
  /** A client that is not used for this time is closed; 5 minutes by default. In milliseconds. */
  readonly idleMs?: number;
  /** Opens a client within the given limits. */
  readonly open: (connection: Connection, limits: ClusterOptions) => Cluster;
}

interface Lease {
  readonly checksum: string;
  readonly cluster: Cluster;
  /** The number of holders that keep the client open while it is not borrowed. */
  holders: number;
  timer: Timer;
  /** Set once the client closes; resolves when no request is running. */
  closing?: Promise<void>;
}

const defaultIdleMs = 5 * 60_000;

/**
 * A tenant controls its API server: the size and time of responses are limited, so that they can neither fill the manager's
 * memory nor block its workers.
 */
export const tenantLimits = {
  name: 'tenant',
  connections: 8,
  timeoutMs: 10_000,
  maxBodyBytes: 8 * 1024 * 1024,
  maxLineBytes: 1024 * 1024,
} as const satisfies ClusterOptions;

/**
 * Clients of tenants' API servers, one per tenant and credentials. A rotated kubeconfig opens another client and closes the
 * previous one; a tenant that was created again under the same name has another UID.
 */
export class TenantPool {
  readonly #leases: ObjectSlot<Lease>;
  /** Closing clients that wait for running requests. */
  readonly #closing = new Set<Promise<void>>();
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #idleMs: number;
  readonly #open: (connection: Connection) => Cluster;

  constructor(options: TenantPoolOptions) {
    this.#clock = options.clock;
    this.#log = options.log ?? silent;
    this.#idleMs = options.idleMs ?? defaultIdleMs;
    this.#leases = options.memory.slot('clients of tenants', {
      dispose: (lease) => {
        this.#close(lease);
      },
    });
    this.#open = (connection) => options.open(connection, tenantLimits);
  }

  /** Tenants whose client is open. */
  get size(): number {
    return this.#leases.size;
  }

  /** The client of the tenant `uid`; it belongs to the pool and must not be closed. Throws `KubeconfigError`. */
  borrow(uid: string, connection: Connection): Cluster {
    const checksum = connectionChecksum(connection);
    const known = this.#leases.get(uid);
    if (known?.checksum === checksum) {
      known.timer.cancel();
      known.timer = this.#expiry(uid);
      return known.cluster;
    }
    const cluster = elsewhereCluster(this.#open(connection), () => this.#again(uid, connection));
    this.#leases.set(uid, { checksum, cluster, holders: 0, timer: this.#expiry(uid) });
    return cluster;
  }

  /**
   * Keeps the open client of the tenant `uid` from being closed as unused, until the returned function is called. Other
   * credentials, `leave` and `close` close it all the same.
   */
  hold(uid: string): () => void {
    const lease = this.#leases.get(uid);
    if (lease === undefined) return () => undefined;
    lease.holders += 1;
    let released = false;
    return () => {
      if (!released) lease.holders -= 1;
      released = true;
    };
  }

  /** Closes the client of a tenant. Resolves when no request of it is running. */
  async leave(uid: string): Promise<void> {
    const lease = this.#leases.get(uid);
    this.#leases.delete(uid);
    await lease?.closing;
  }

  /** Closes all clients. */
  async close(): Promise<void> {
    this.#leases.clear();
    await Promise.all(this.#closing);
  }

  #close(lease: Lease): void {
    lease.timer.cancel();
    const closing = lease.cluster
      .close()
      .catch((error: unknown) => {
        this.#log.warn('the connection to a tenant could not be closed', { error });
      })
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
    lease.closing = closing;
  }

  /** The client for a later retry of a request, when this one may be closed. */
  #again(uid: string, connection: Connection): Cluster {
    const known = this.#leases.get(uid);
    if (known !== undefined && known.checksum !== connectionChecksum(connection)) return known.cluster;
    return this.borrow(uid, connection);
  }

  #expiry(uid: string): Timer {
    return this.#clock.after(this.#idleMs, () => {
      const lease = this.#leases.get(uid);
      if (lease !== undefined && lease.holders > 0) lease.timer = this.#expiry(uid);
      else this.#leases.delete(uid);
    });
  }
}
