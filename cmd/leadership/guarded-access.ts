import type { Clock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { guardWrites } from '../../runtime/client/guard-writes.ts';
import type { ClusterOptions } from '../../runtime/client/http-cluster.ts';
import type { Connection } from '../../runtime/client/connection.ts';
import { Sessions } from '../../stores/sessions.ts';

/** How a manager reaches what is outside of it, and whether it may write there. */
export interface AccessOptions {
  readonly client: Cluster;
  readonly open: (connection: Connection, limits: ClusterOptions) => Cluster;
  readonly clock: Clock;
  /** Throws when this process does not lead (anymore). */
  readonly mayWrite: () => void;
  /** Whether writes over HTTP/1.1 are checked once more when they are sent. False by default. */
  readonly atSocket?: boolean;
}

/** Everything through which the controllers of a manager change something. */
export interface GuardedAccess {
  /** The management cluster. */
  readonly cluster: Cluster;
  /** Opens the cluster of a tenant, or one that hosts control planes. */
  readonly open: (connection: Connection, limits: ClusterOptions) => Cluster;
  /** The datastores. */
  readonly sessions: Sessions;
}

/**
 * All that a manager reaches, with one guard in front of every write: a manager that has lost its Lease, or may have lost it while it was
 * suspended, must change neither the management cluster nor a tenant nor a datastore, because another one is at work there.
 */
export function guardedAccess({ client, open, clock, mayWrite, atSocket = false }: AccessOptions): GuardedAccess {
  return {
    cluster: guardWrites(client, mayWrite, { atSocket }),
    open: (connection, limits) => guardWrites(open(connection, limits), mayWrite, { atSocket }),
    sessions: new Sessions({ clock, mayWrite }),
  };
}
