import type { Clock, Timer } from '../runtime/clock.ts';
import { connectionChecksum } from '../runtime/connection.ts';
import type { Connection } from '../runtime/connection.ts';
import type { Cluster } from '../runtime/cluster.ts';
import { elsewhereCluster } from '../runtime/elsewhere-cluster.ts';
import type { ClusterOptions } from '../runtime/http-cluster.ts';
import type { Logger } from '../runtime/logger.ts';
import { silent } from '../runtime/logger.ts';
import type { ObjectMemory } from '../runtime/object-memory.ts';
import type { ObjectSlot } from '../runtime/object-slot.ts';

/** How tenants are met. */
export interface TenantPoolOptions {
  readonly clock: Clock;
  /** The door of a tenant that goes is closed. */
  readonly memory: ObjectMemory;
  /** Is told what nobody waits for; nobody unless said. */
  readonly log?: Logger;
  /** A tenant nobody asked for in this time is let go; 5 minutes unless said. In milliseconds. */
  readonly idleMs?: number;
  /** Opens a door within the given limits. */
  readonly open: (connection: Connection, limits: ClusterOptions) => Cluster;
}

interface Lease {
  readonly checksum: string;
  readonly cluster: Cluster;
  /** Those who keep the door open, however long nobody borrows. */
  holders: number;
  timer: Timer;
  /** Set once the door closes; resolves when no request runs. */
  closing?: Promise<void>;
}

const defaultIdleMs = 5 * 60_000;

/**
 * A tenant's API server is in the tenant's power: what it answers is bounded in size and time, so that it can neither fill
 * the operator's memory nor hold its workers.
 */
export const tenantLimits = {
  name: 'tenant',
  connections: 8,
  timeoutMs: 10_000,
  maxBodyBytes: 8 * 1024 * 1024,
  maxLineBytes: 1024 * 1024,
} as const satisfies ClusterOptions;

/**
 * Doors to tenants' API servers, one per tenant and credentials. A rotated kubeconfig is another door and closes the one
 * before; a tenant that was made anew under the same name has another UID.
 */
export class TenantPool {
  readonly #leases: ObjectSlot<Lease>;
  /** Doors that wait for running requests. */
  readonly #closing = new Set<Promise<void>>();
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #idleMs: number;
  readonly #open: (connection: Connection) => Cluster;

  constructor(options: TenantPoolOptions) {
    this.#clock = options.clock;
    this.#log = options.log ?? silent;
    this.#idleMs = options.idleMs ?? defaultIdleMs;
    this.#leases = options.memory.slot('doors to tenants', {
      dispose: (lease) => {
        this.#close(lease);
      },
    });
    this.#open = (connection) => options.open(connection, tenantLimits);
  }

  /** Tenants whose door is open. */
  get size(): number {
    return this.#leases.size;
  }

  /** The door to the tenant `uid`; it stays the pool's and must not be closed. Throws `KubeconfigError`. */
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
   * Keeps the door that is open to the tenant `uid` from being closed for want of borrowers, until the returned function is
   * called. Other credentials, `leave` and `close` close it all the same.
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

  /** Closes the door to a tenant. Resolves when no request of it runs. */
  async leave(uid: string): Promise<void> {
    const lease = this.#leases.get(uid);
    this.#leases.delete(uid);
    await lease?.closing;
  }

  /** Closes all doors. */
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

  /** The door for a request that is repeated later, when this one may be closed. */
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
