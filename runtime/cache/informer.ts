import type { Key, KindRef, Resource } from '../../api/meta.ts';
import type { Selection } from '../client/cluster.ts';
import type { IndexOf } from './object-cache.ts';

/** What an informer follows. Equal selections share one watch. */
export interface InformerSelection<T extends Resource> extends Selection {
  readonly kind: KindRef<T>;
  /** Deliver and keep metadata only. */
  readonly metadataOnly?: boolean;
  /** Deliver and keep name, namespace, UID and version only: for a kind of which anyone may make many and large ones. */
  readonly identityOnly?: boolean;
  /** The API may be absent: that counts as an empty, synced cache, and is checked again later. */
  readonly optional?: boolean;
  /** More objects than this are refused and reported, not kept: for servers that are not trusted. */
  readonly maxObjects?: number;
}

/** `old` is absent for a new object, `now` for one that has gone. Objects are frozen. */
export type Handler<T> = (old: T | undefined, now: T | undefined) => void;

/** How an informer is doing, for readiness and for people. */
export interface InformerHealth {
  /** The first complete state has been seen (or the optional API is known to be absent). */
  readonly synced: boolean;
  /** The API is not there. */
  readonly absent: boolean;
  readonly objects: number;
  /** When the last event, bookmark included, arrived: milliseconds since the epoch. */
  readonly lastEvent: number | undefined;
  /** Since when every attempt failed: milliseconds since the epoch; undefined when all is well. */
  readonly failingSince: number | undefined;
  /** What the last attempt failed with, while it is failing. */
  readonly failure: string | undefined;
  /** All changes up to this version are in the cache; absent while it is not known. */
  readonly version?: string | undefined;
}

/** A cached copy of the selected objects, and events about each change. Reads are synchronous. */
export interface Informer<T extends Resource = Resource> {
  readonly kind: KindRef<T>;
  get(key: Key): T | undefined;
  /** In no particular order. */
  list(namespace?: string): readonly T[];
  /** Objects with this value in a named index. Throws `TypeError` for an unknown index. */
  byIndex(index: string, value: string): readonly T[];
  /** Adding a name again changes nothing. */
  addIndex(name: string, of: IndexOf<T>): void;
  /**
   * Calls the handler at once for the existing objects, and then for each change. An object that was deleted and created
   * again is reported as both. What a handler throws is logged. Returns a function that ends the subscription.
   */
  subscribe(handler: Handler<T>): () => void;
  /** Resolves when the cache is complete for the first time; rejects when the informer is closed before. */
  readonly synced: Promise<void>;
  health(): InformerHealth;
  /** An absent API may have appeared: do not wait any longer. */
  lookAgain(): void;
  /** Ends the watch and resolves when it has ended. */
  close(): Promise<void>;
}
