import type { StoredChange, StoredEntry } from '../tenancy-data.ts';
import { keyOf, nameOf } from './kine-keys.ts';
import type { KineHead, KineRow, NewKineRow } from './kine-row.ts';

/** A tenant's row as an entry. */
export function entryOf({ name, value, lease }: KineRow): StoredEntry {
  return { key: keyOf(name) ?? name, value, ...(lease > 0 && { ttlMs: lease * 1000 }) };
}

/** Seconds of a lease, rounded up, since 0 would mean forever. */
function leaseOf({ ttlMs }: StoredEntry): number {
  return ttlMs === undefined ? 0 : Math.max(1, Math.ceil(ttlMs / 1000));
}

/** The heads up to the first missing id: a transaction with that id may still be in progress. */
export function contiguous(after: bigint, heads: readonly KineHead[]): readonly KineHead[] {
  const end = heads.findIndex(({ id }, index) => id !== after + BigInt(index) + 1n);
  return end === -1 ? heads : heads.slice(0, end);
}

/** The last head of each of the tenant's names, in the order of ids. */
export function lastOfEach(heads: readonly KineHead[]): readonly KineHead[] {
  const last = new Map<string, KineHead>();
  for (const head of heads) {
    if (keyOf(head.name) === undefined) continue;
    last.delete(head.name);
    last.set(head.name, head);
  }
  return [...last.values()];
}

/** The last change of each name, in the order of the changes; names that do not belong to the tenant are left out. */
export function lastChanges(changes: readonly StoredChange[]): ReadonlyMap<string, StoredChange> {
  const last = new Map<string, StoredChange>();
  for (const change of changes) {
    const name = nameOf(change.is === 'put' ? change.entry.key : change.key);
    if (keyOf(name) === undefined) continue;
    last.delete(name);
    last.set(name, change);
  }
  return last;
}

/**
 * The row that kine would append for a change, given the newest row of the name; undefined when it would change nothing. A name that
 * reappears after a deletion is created again, with its last row as the previous one.
 */
export function newRow(name: string, change: StoredChange, latest: KineRow | undefined): NewKineRow | undefined {
  const live = latest !== undefined && !latest.deleted;
  const before = {
    name,
    prevRevision: latest?.id ?? 0n,
    // A row without a value and one with an empty value read alike.
    oldValue: live ? latest.value : null,
  };
  if (change.is === 'deleted') {
    if (!live) return undefined;
    return { ...before, created: false, deleted: true, createRevision: 0n, lease: 0, value: null };
  }
  const { value } = change.entry;
  const lease = leaseOf(change.entry);
  if (!live) return { ...before, created: true, deleted: false, createRevision: 0n, lease, value };
  if (latest.lease === lease && Buffer.compare(latest.value, value) === 0) return undefined;
  const createRevision = latest.created ? latest.id : latest.createRevision;
  return { ...before, created: false, deleted: false, createRevision, lease, value };
}
