/** How many connections there may be at once. */
export interface PlaceLimits {
  readonly most: number;
  readonly mostOfTenant: number;
}

/** One of the connections. */
export interface Place {
  /** It has shown that it is one of a client: it is not ended for others anymore. */
  settle(): void;
  /** It is over. */
  leave(): void;
}

interface Taken {
  readonly tenant: string;
  readonly end: () => void;
}

/**
 * Bounds the connections to each tenant, and to all. When there is no room, the oldest one that has not said what it wants is ended for a
 * new one, so that callers who never say anything cannot keep others out. One tenant never takes the room of all.
 */
export class ConnectionPlaces {
  readonly #limits: PlaceLimits;
  /** The oldest first. */
  readonly #silent = new Set<Taken>();
  readonly #ofTenant = new Map<string, number>();
  #size = 0;

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  /** Takes a place; `end` is called if it is needed for another one. Undefined if there is none. */
  take(tenant: string, end: () => void): Place | undefined {
    const { most, mostOfTenant } = this.#limits;
    if ((this.#ofTenant.get(tenant) ?? 0) >= mostOfTenant && !this.#endOldest((one) => one.tenant === tenant))
      return undefined;
    if (this.#size >= most && !this.#endOldest(() => true)) return undefined;
    const taken: Taken = { tenant, end };
    this.#silent.add(taken);
    this.#size += 1;
    this.#ofTenant.set(tenant, (this.#ofTenant.get(tenant) ?? 0) + 1);
    let isThere = true;
    const leave = (): void => {
      if (!isThere) return;
      isThere = false;
      this.#silent.delete(taken);
      this.#size -= 1;
      const left = (this.#ofTenant.get(tenant) ?? 0) - 1;
      if (left > 0) this.#ofTenant.set(tenant, left);
      else this.#ofTenant.delete(tenant);
    };
    this.#leaves.set(taken, leave);
    return {
      settle: () => {
        this.#silent.delete(taken);
      },
      leave,
    };
  }

  readonly #leaves = new WeakMap<Taken, () => void>();

  #endOldest(isMeant: (taken: Taken) => boolean): boolean {
    for (const taken of this.#silent) {
      if (!isMeant(taken)) continue;
      this.#leaves.get(taken)?.();
      taken.end();
      return true;
    }
    return false;
  }
}
