/** A least-recently-used cache of values that are expensive to compute, bounded by their total cost. */
export class BoundedCache<V> {
  readonly #bound: number;
  readonly #kept = new Map<string, { readonly value: V; readonly cost: number }>();
  #cost = 0;

  /** `bound` is the maximum total cost, in the unit that the callers of `set` use. */
  constructor(bound: number) {
    this.#bound = bound;
  }

  /** Total cost of the cached values. */
  get cost(): number {
    return this.#cost;
  }

  get(key: string): V | undefined {
    const found = this.#kept.get(key);
    if (found === undefined) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, found);
    return found.value;
  }

  /** A value that costs more than the bound is not kept. */
  set(key: string, value: V, cost: number): void {
    this.delete(key);
    if (cost > this.#bound) return;
    this.#kept.set(key, { value, cost });
    this.#cost += cost;
    for (const oldest of this.#kept.keys()) {
      if (this.#cost <= this.#bound) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#cost -= this.#kept.get(key)?.cost ?? 0;
    this.#kept.delete(key);
  }
}
