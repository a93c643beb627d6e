import type { StoredChange, StoredEntry, TenancyData } from '../tenancy-data.ts';
import { ContentFingerprint, entryDigest } from './content-fingerprint.ts';
import { differences } from './differences.ts';
import type { Pair } from './differences.ts';
import { UnequalError } from './failure-plan.ts';

/** What both stores hold. */
export interface VerifiedContent {
  readonly keys: number;
  readonly bytes: number;
  readonly fingerprint: string;
  /** Keys with a time to live. */
  readonly expiring: number;
}

/** A key that expires within this time may have expired in one datastore only. In milliseconds. */
const endingMs = 10_000;

/** The last change of each key: the digest of its value, that it was deleted, or that it has a time to live. */
export type ChangedKeys = ReadonlyMap<string, string>;

/** Counts keys that differ, and remembers the first of them. */
class Unequal {
  #count = 0;
  readonly #some: string[] = [];

  add(key: string): void {
    this.#count += 1;
    if (this.#some.length < 3) this.#some.push(key);
  }

  /** Throws `UnequalError` when there are any. */
  throwIfAny(): void {
    if (this.#count === 0) return;
    throw new UnequalError(`source and target differ in ${this.#count} keys, such as ${this.#some.join(', ')}`);
  }
}

/**
 * Compares everything: the source as it was at a revision, and the current target, byte by byte and by fingerprint. Nothing else may
 * write to the target. Throws `UnequalError` that names keys, and what the datastores throw.
 */
export async function verifyEverything(
  stores: { readonly source: TenancyData; readonly target: TenancyData },
  revision: bigint,
  checkpoint: () => void,
): Promise<VerifiedContent> {
  const [left, right] = [new ContentFingerprint(), new ContentFingerprint()];
  const unequal = new Unequal();
  let expiring = 0;
  const pages = stores.target.pages(await stores.target.revision());
  for await (const { changes, pairs } of differences(stores.source.pages(revision), pages)) {
    checkpoint();
    const ending = new Set(pairs.filter(isEnding).map(({ source }) => source?.key));
    for (const key of changes.map(keyOf)) if (!ending.has(key)) unequal.add(key);
    for (const { source, target } of pairs) {
      if (source?.ttlMs !== undefined) expiring += 1;
      if (source !== undefined) left.add(source);
      if (target !== undefined) right.add(target);
    }
  }
  unequal.throwIfAny();
  if (left.hex !== right.hex) throw new UnequalError('source and target differ: their fingerprints do not match');
  return { keys: right.keys, bytes: right.bytes, fingerprint: right.hex, expiring };
}

/**
 * Compares what changed in both datastores after they were equal, since when only the migration wrote to the target. `since.changed` has
 * the changes there up to the revision `since.target`. Counts are compared as well, except for keys that expire.
 * Throws `UnequalError`, what the datastores throw, and at a checkpoint.
 */
export async function verifyChanges(
  stores: { readonly source: TenancyData; readonly target: TenancyData },
  since: {
    readonly source: bigint;
    readonly target: bigint;
    readonly changed: ChangedKeys;
    readonly expiring: number;
  },
  checkpoint: () => void,
): Promise<void> {
  const source = await changesSince(stores.source, since.source, checkpoint);
  const target = new Map([...since.changed, ...(await changesSince(stores.target, since.target, checkpoint))]);
  const unequal = new Unequal();
  for (const [key, state] of source) {
    // A key that was created and deleted in between may never have been reported as existing.
    if ((target.get(key) ?? 'deleted') !== state && state !== 'expiring') unequal.add(key);
  }
  for (const [key, state] of target) {
    // Only the migration writes here and deletes what the source deleted; any other deletion is an expiry.
    if (!source.has(key) && state !== 'deleted') unequal.add(key);
  }
  unequal.throwIfAny();
  const apart = Math.abs((await stores.source.count()) - (await stores.target.count()));
  if (apart > since.expiring) throw new UnequalError(`the numbers of keys in source and target differ by ${apart}`);
}

/** What changed in a store after a revision, up to now. Throws what the store throws, and at a checkpoint. */
export async function changesSince(store: TenancyData, after: bigint, checkpoint: () => void): Promise<ChangedKeys> {
  const goal = await store.revision();
  const states = new Map<string, string>();
  for (let at = after; at < goal;) {
    checkpoint();
    const { changes, revision } = await store.changes(at);
    for (const change of changes) states.set(keyOf(change), stateOf(change));
    at = revision;
  }
  return states;
}

function stateOf(change: StoredChange): string {
  if (change.is === 'deleted') return 'deleted';
  const { key, value, ttlMs } = change.entry;
  return ttlMs === undefined ? entryDigest(key, value) : 'expiring';
}

function keyOf(change: StoredChange): string {
  return change.is === 'put' ? change.entry.key : change.key;
}

function isEnding({ source, target }: Pair): boolean {
  const endsSoon = (entry: StoredEntry | undefined): boolean => entry?.ttlMs !== undefined && entry.ttlMs <= endingMs;
  return target === undefined && endsSoon(source);
}
