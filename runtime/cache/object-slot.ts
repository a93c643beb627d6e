/** How a slot keeps its entries. */
export interface SlotOptions<T> {
  /** Releases what an entry holds open. Called once for each entry that is removed or replaced. Must not throw. */
  readonly dispose?: (value: T, uid: string) => void;
}

/** One thing that is remembered of each object, by the object's UID. `ObjectMemory` makes those that go with their objects. */
export class ObjectSlot<T> {
  readonly #values = new Map<string, T>();
  readonly #dispose: (value: T, uid: string) => void;

  constructor({ dispose = () => undefined }: SlotOptions<T> = {}) {
    this.#dispose = dispose;
  }

  /** Objects of which something is remembered. */
  get size(): number {
    return this.#values.size;
  }

  has(uid: string): boolean {
    return this.#values.has(uid);
  }

  get(uid: string): T | undefined {
    return this.#values.get(uid);
  }

  /** What is remembered of the object; `make` begins it. */
  getOrMake(uid: string, make: () => T): T {
    const known = this.#values.get(uid);
    if (known !== undefined) return known;
    const made = make();
    this.#values.set(uid, made);
    return made;
  }

  set(uid: string, value: T): void {
    const before = this.#values.get(uid);
    if (before === value) return;
    this.#values.set(uid, value);
    if (before !== undefined) this.#dispose(before, uid);
  }

  delete(uid: string): void {
    const value = this.#values.get(uid);
    if (!this.#values.delete(uid)) return;
    if (value !== undefined) this.#dispose(value, uid);
  }

  /** Removes all entries. */
  clear(): void {
    for (const uid of [...this.#values.keys()]) this.delete(uid);
  }

  /** The entries as they are now; they may be deleted meanwhile. */
  entries(): readonly (readonly [uid: string, value: T])[] {
    return [...this.#values];
  }
}
