import type { Key, Resource } from '../../api/meta.ts';

/** All values of an object in an index. */
export type IndexOf<T> = (object: T) => readonly string[];

interface Index<T> {
  readonly of: IndexOf<T>;
  readonly byValue: Map<string, Set<string>>;
}

const idOf = (key: Key): string => `${key.namespace ?? ''}/${key.name}`;

/** Objects of one kind by key and by named indexes. What it holds is frozen. */
export class ObjectCache<T extends Resource> {
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, Index<T>>();

  get size(): number {
    return this.#objects.size;
  }

  get(key: Key): T | undefined {
    return this.#objects.get(idOf(key));
  }

  /** In no particular order. */
  list(namespace?: string): readonly T[] {
    const all = [...this.#objects.values()];
    return namespace === undefined ? all : all.filter((object) => object.metadata.namespace === namespace);
  }

  /** Throws `TypeError` for an index that was not added. */
  byIndex(name: string, value: string): readonly T[] {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new TypeError(`there is no index "${name}"; add it before using it`);
    return [...(index.byValue.get(value) ?? [])].flatMap((id) => this.#objects.get(id) ?? []);
  }

  /** Adds an index over what is there and what will come. Adding a name again changes nothing. */
  addIndex(name: string, of: IndexOf<T>): void {
    if (this.#indexes.has(name)) return;
    const index: Index<T> = { of, byValue: new Map() };
    this.#indexes.set(name, index);
    for (const [id, object] of this.#objects) enter(index, id, object);
  }

  has(metadata: Key): boolean {
    return this.#objects.has(idOf(metadata));
  }

  /** Stores the object and returns the one it replaces. */
  put(object: T): T | undefined {
    const id = idOf(object.metadata);
    const old = this.remove(object.metadata);
    this.#objects.set(id, deepFreeze(object));
    for (const index of this.#indexes.values()) enter(index, id, object);
    return old;
  }

  /** Removes the object and returns it. */
  remove(metadata: Key): T | undefined {
    const id = idOf(metadata);
    const old = this.#objects.get(id);
    if (old === undefined) return undefined;
    this.#objects.delete(id);
    for (const index of this.#indexes.values()) leave(index, id, old);
    return old;
  }
}

function enter<T>(index: Index<T>, id: string, object: T): void {
  for (const value of index.of(object)) {
    const ids = index.byValue.get(value);
    if (ids === undefined) index.byValue.set(value, new Set([id]));
    else ids.add(id);
  }
}

function leave<T>(index: Index<T>, id: string, object: T): void {
  for (const value of index.of(object)) {
    const ids = index.byValue.get(value);
    ids?.delete(id);
    if (ids?.size === 0) index.byValue.delete(value);
  }
}

/** Without recursion, because the author of an object chooses its depth. */
function deepFreeze<T extends object>(root: T): T {
  const open: object[] = [root];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    Object.freeze(at);
    for (const child of Object.values(at) as unknown[]) {
      if (typeof child === 'object' && child !== null && !Object.isFrozen(child)) open.push(child);
    }
  }
  return root;
}
