import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { StoredTenants } from './status.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Session } from '../../stores/driver.ts';
import type { OpenStore } from '../../stores/store-access.ts';
import type { ObjectMemory } from '../../runtime/cache/object-memory.ts';

/** A DataStore whose credentials were read and checked. */
export interface ProbedStore extends Pick<OpenStore, 'capabilities' | 'verifyIsolation'> {
  /** Over endpoints and credentials. */
  readonly checksum: string;
  /** Lends the shared administrative connection, also while the store is known not to answer. Throws `StoreError`. */
  probe<T>(work: (session: Session) => Promise<T>): Promise<T>;
}

/** What the controller acts through. */
export interface Dependencies {
  /** What is remembered about an object is dropped with it. */
  readonly memory: ObjectMemory;
  readonly clock: Clock;
  readonly stores: {
    /** Throws `StoreError` naming the field that is missing or broken. */
    open(store: DataStore, signal: AbortSignal): Promise<ProbedStore>;
  };
  /** Marks the Secrets that a DataStore reads; by default they are not marked. */
  markSecrets?(store: DataStore, signal: AbortSignal): Promise<void>;
  /** The TenantControlPlanes that this process reconciles, from its cache. */
  tenants(): readonly TenantControlPlane[];
  /** Those of `tenants` that are deleted, and whose data is retained; none by default. */
  retained?(): readonly TenantControlPlane[];
  /** All TenantControlPlanes, from the API server itself. */
  allTenants(signal: AbortSignal): Promise<StoredTenants>;
  /** DataStore of tenants that neither name nor select one; empty for none. */
  readonly defaultDataStore: string;
  /** Milliseconds between two verifications of a datastore's isolation; 0 for none but those after a change. */
  readonly isolationIntervalMs: number;
  /** Namespace of `tenants`; empty when they are all that there are. */
  readonly namespace: string;
}
