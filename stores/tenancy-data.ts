/** One key as a tenant's API server wrote it. */
export interface StoredEntry {
  /** Below the tenant's root (`/<schema>/` in etcd, `/registry/` behind kine), without it: `pods/default/a`. */
  readonly key: string;
  readonly value: Uint8Array;
  /** Milliseconds that the key has left to live; absent for one that stays. */
  readonly ttlMs?: number;
}

/** What happened to a key. */
export type StoredChange =
  { readonly is: 'put'; readonly entry: StoredEntry } | { readonly is: 'deleted'; readonly key: string };

/** Most keys of a page. */
export const longestPage = 1000;

/** Most bytes of values in a page, well below the limits of a gRPC message, a statement and a process's memory. */
export const largestPage = 2 * 1024 * 1024;

/** Thrown when a datastore has compacted the requested revision: the copy must start again. */
export class CompactedError extends Error {
  override readonly name = 'CompactedError';
}

/**
 * Keys with which running programs of the control plane (API servers and leaders) announce themselves. Their successors write them
 * again, and a copy would be wrong.
 */
export const uncopiedPrefixes: readonly string[] = [
  'masterleases/',
  'peerserverleases/',
  'leases/kube-system/kube-controller-manager',
  'leases/kube-system/kube-scheduler',
];

/** False for keys, below the tenant's root, that are not part of its data. */
export function isCopied(key: string): boolean {
  return !uncopiedPrefixes.some((prefix) => key.startsWith(prefix));
}

/**
 * One tenant's data, as a migration reads and writes it with administrative rights: the keys that `isCopied`, without kine's own keys.
 * All methods throw `StoreError`, besides what their comments say.
 */
export interface TenancyData extends AsyncDisposable {
  /** The store's revision: at least that of the tenant's last write. */
  revision(): Promise<bigint>;
  /** The current number of keys; exact while nothing writes. */
  count(): Promise<number>;
  /**
   * Every key as it was at `revision`, in ascending byte order, so that two datastores can be compared page by page. No page has more than
   * `longestPage` keys or, unless it is a single key, more than `largestPage` bytes of values. Throws `CompactedError` when the revision
   * was compacted, also in the middle.
   */
  pages(revision: bigint): AsyncIterable<readonly StoredEntry[]>;
  /**
   * The changes after `after`, in their order, and the revision up to which they are complete; only the last change of a key is required.
   * Bounded like a page: there may be more until `revision` is the datastore's. An empty list means that nothing changed up to `revision`,
   * which is never below `after`. With `through`, a revision that the datastore has had, no later change is contained. Throws
   * `CompactedError`.
   */
  changes(
    after: bigint,
    through?: bigint,
  ): Promise<{ readonly changes: readonly StoredChange[]; readonly revision: bigint }>;
  /**
   * Lets this connection write, and ends the writes of every other one, as `endWrites` does; their
   * connections may be closed. After a failure, open another connection.
   */
  beginWrites(): Promise<void>;
  /**
   * Applies the changes; idempotent. The tenant must not be writing here. Throws unless `beginWrites` was called. A change takes effect
   * only while the writes of this connection have not been ended, which the datastore itself checks: also one that is never answered, and
   * arrives when everybody has given it up.
   */
  write(changes: readonly StoredChange[]): Promise<void>;
  /**
   * Ends the writes of all connections, this one included, also of processes that are gone: when it resolves, what they have sent has either
   * taken effect or never will. The last writer calls it before the tenant may write: otherwise an old value could replace a
   * newer one. May be repeated.
   */
  endWrites(): Promise<void>;
  /**
   * Makes the revision of every later write greater than `revision`, also while the tenant is fenced. `onProgress` is called with the revision
   * reached, repeatedly if it takes long; what it throws ends the raise and is thrown.
   */
  raise(revision: bigint, onProgress?: (reached: bigint) => void): Promise<void>;
  /**
   * Blocks writes with the tenant's credentials. When it resolves, nothing more can be written with them, also over open connections, and
   * all acknowledged writes are visible; reads continue. `Session.ensure` does not change that; `unfence` and `Session.remove` end it.
   * May be repeated.
   */
  fence(): Promise<void>;
  /**
   * Lets a fenced tenant write keys that are not `isCopied`, and no others. Controller manager and scheduler exit when they cannot renew
   * their leases for ten seconds, and their pod is not ready until they are back. kine reports a refused write as a lost race, so
   * kube-apiserver retries it without a pause, and does not stop while it does. Absent where the datastore supports only a complete fence;
   * without effect while the datastore is too busy for it.
   */
  openUncopied?(): Promise<void>;
  /** Allows writes again. May be repeated, also where there was no fence. */
  unfence(): Promise<void>;
}
