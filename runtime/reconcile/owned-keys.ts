import type { KindRef, Resource } from '../../api/meta.ts';
import type { Informer } from '../cache/informer.ts';
import { keyFrom, keyOf, textOf } from '../cache/object-id.ts';
import type { Cluster } from '../client/cluster.ts';
import type { KeyShare } from '../shards/key-share.ts';

export interface OwnedKeysOptions {
  /** Absent: this process is the only one, and all keys are its own. */
  readonly share: KeyShare | undefined;
  readonly cluster: Cluster;
  readonly kind: KindRef;
  /** The key is this process's own from now on. */
  readonly gained: (key: string) => void;
  /** It is no longer, and does not run. */
  readonly gone: (object: Resource) => void;
  /** An object as the API server has it, after it has become this process's own. */
  readonly found: (object: Resource) => void;
  /** How many there are. */
  readonly counted?: (keys: number) => void;
}

/** Which objects of one controller this process reconciles, where several processes share them. */
export class OwnedKeys {
  readonly #options: OwnedKeysOptions;
  readonly #own = new Set<string>();
  /** Own keys whose objects were read since they became the own ones. */
  readonly #read = new Set<string>();
  readonly #running = new Set<string>();

  constructor(options: OwnedKeysOptions) {
    this.#options = options;
  }

  /** Finds out which keys were gained and which are gone, now and whenever keys change hands. Returns a function that ends that. */
  follow(informer: Informer): () => void {
    const { share } = this.#options;
    if (share === undefined) return () => undefined;
    this.#compare(share, informer);
    return share.subscribe(() => {
      this.#compare(share, informer);
    });
  }

  /** Whether the key is this process's own now. */
  has(key: string): boolean {
    return this.#options.share?.owns(key) !== false;
  }

  /** Begins a reconcile; the returned function ends it. Undefined if the key is another process's. */
  begin(key: string): (() => void) | undefined {
    const { share } = this.#options;
    if (share === undefined) return () => undefined;
    const end = share.begin(key);
    if (end === undefined) return undefined;
    this.#own.add(key);
    this.#running.add(key);
    return () => {
      this.#running.delete(key);
      end();
    };
  }

  /** Whether the object has to be read from the API server: the cache may be behind what its former owner wrote. */
  isUnread(key: string): boolean {
    return this.#options.share !== undefined && !this.#read.has(key);
  }

  /** Reads the object. False if it is gone. Throws what the read throws. */
  async read(key: string, signal: AbortSignal): Promise<boolean> {
    const { cluster, kind, found } = this.#options;
    const object = await cluster.get(kind, keyFrom(key), { signal });
    if (object === undefined) return false;
    found(object);
    if (this.has(key)) this.#read.add(key);
    return true;
  }

  /** The object is gone, or another process's. */
  forget(key: string): void {
    this.#read.delete(key);
    this.#own.delete(key);
  }

  #compare(share: KeyShare, informer: Informer): void {
    const { gained, gone, counted } = this.#options;
    const before = new Set(this.#own);
    this.#own.clear();
    for (const object of informer.list()) {
      const key = textOf(keyOf(object));
      if (share.owns(key)) {
        this.#own.add(key);
        if (!before.has(key)) gained(key);
      } else if (before.has(key)) {
        this.#read.delete(key);
        // One that runs is forgotten at its end.
        if (!this.#running.has(key)) gone(object);
      }
      before.delete(key);
    }
    for (const key of before) this.#read.delete(key);
    counted?.(this.#own.size);
  }
}
