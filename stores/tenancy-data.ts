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

/** Most bytes of values in a page: what a gRPC message, a statement and a process's memory bear well. */
export const largestPage = 2 * 1024 * 1024;

/** Thrown when a store has compacted what was asked for: the copy begins anew. */
export class CompactedError extends Error {
  override readonly name = 'CompactedError';
}

/**
 * What programs of the control plane say of themselves while they run, API servers and those that lead: their successors say it anew,
 * and the copy would be a lie.
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
 * One tenant's data with administrative rights, as a migration reads and writes it: the keys that `isCopied`, without what kine
 * keeps for itself. All methods throw `StoreError` besides what they say.
 */
export interface TenancyData extends AsyncDisposable {
  /** The store's revision: at least that of the tenant's last write. */
  revision(): Promise<bigint>;
  /** How many keys there are now; exact while nobody writes. */
  count(): Promise<number>;
  /**
   * Every key as it was at `revision`, in ascending order of the keys' bytes, so that two stores are compared page by page.
   * No page has more than `longestPage` keys or, unless it is a single key, more than `largestPage` bytes of values. Throws
   * `CompactedError` when the revision is gone, also in the middle.
   */
  pages(revision: bigint): AsyncIterable<readonly StoredEntry[]>;
  /**
   * What changed after `after`, in the order of the changes, and up to which revision that is; only the last change of a key
   * need be told. Bounded as a page is: there may be more, until `revision` is the store's. An empty list means that there was
   * nothing up to `revision`, which is never below `after`. Throws `CompactedError`.
   */
  changes(after: bigint): Promise<{ readonly changes: readonly StoredChange[]; readonly revision: bigint }>;
  /** Applies the changes; the same again does no harm. The tenant must not be writing here. */
  write(changes: readonly StoredChange[]): Promise<void>;
  /**
   * Makes every later write's revision greater than `revision`, also while the tenant is fenced. `tell` is called with the
   * revision reached, more than once where it takes long; what it throws ends the raise and is thrown.
   */
  raise(revision: bigint, tell?: (reached: bigint) => void): Promise<void>;
  /**
   * Takes the tenant's credentials their writes. When it resolves nothing more can be written with them, also over connections
   * that are open, and all that was acknowledged is visible; reads go on. `Session.ensure` leaves it so; `unfence` and
   * `Session.remove` end it. May be repeated.
   */
  fence(): Promise<void>;
  /**
   * Lets a tenant that is fenced write those keys again that are not `isCopied`, and no others. Controller manager and scheduler end
   * when they could not renew their leases for ten seconds, and their pod is not ready until they are back. kine takes the refusal of
   * such a write for a lost race, so that kube-apiserver tries it again without a pause, and does not end while it does. Absent where
   * nothing finer than a fence can be had; without effect where the store is too busy for it.
   */
  openUncopied?(): Promise<void>;
  /** Gives the writes back. May be repeated, also where there was no fence. */
  unfence(): Promise<void>;
}
