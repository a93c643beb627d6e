/** How many connections there may be at once. */
export interface PlaceLimits {
  readonly most: number;
  readonly mostOfTenant: number;
}

/** Whose a connection is. */
export interface Grouped {
  readonly tenant: string;
  /** What counts as one caller. */
  readonly network: string;
}

interface TenantGroup<T> {
  size: number;
  readonly networks: Map<string, Set<T>>;
}

/** The largest ones, which are all of one size. */
function largest<T>(groups: Iterable<T>, size: (group: T) => number): readonly T[] {
  let found: T[] = [];
  for (const group of groups) {
    const more = size(group) - (found[0] === undefined ? 0 : size(found[0]));
    if (more > 0) found = [group];
    else if (more === 0) found.push(group);
  }
  return found;
}

/** Connections by tenant and by caller, and which of them have to make room. */
export class ConnectionGroups<T extends Grouped> {
  readonly #limits: PlaceLimits;
  readonly #tenants = new Map<string, TenantGroup<T>>();
  #size = 0;

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  add(one: T): void {
    const tenant = this.#tenants.get(one.tenant) ?? { size: 0, networks: new Map<string, Set<T>>() };
    this.#tenants.set(one.tenant, tenant);
    const network = tenant.networks.get(one.network) ?? new Set<T>();
    tenant.networks.set(one.network, network);
    network.add(one);
    tenant.size += 1;
    this.#size += 1;
  }

  /** False if it was not there. */
  delete(one: T): boolean {
    const tenant = this.#tenants.get(one.tenant);
    const network = tenant?.networks.get(one.network);
    if (tenant === undefined || network?.delete(one) !== true) return false;
    if (network.size === 0) tenant.networks.delete(one.network);
    tenant.size -= 1;
    this.#size -= 1;
    if (tenant.size === 0) this.#tenants.delete(one.tenant);
    return true;
  }

  /** After `added` was, one of these has to go: those of callers who have most, of the tenants that have most. None if there is room. */
  crowd(added: T): readonly T[] {
    const { most, mostOfTenant } = this.#limits;
    const own = this.#tenants.get(added.tenant);
    const isTenantFull = own !== undefined && own.size > mostOfTenant;
    if (!isTenantFull && this.#size <= most) return [];
    const tenants = isTenantFull ? [own] : largest(this.#tenants.values(), ({ size }) => size);
    const networks = tenants.flatMap((one) => [...one.networks.values()]);
    return largest(networks, ({ size }) => size).flatMap((network) => [...network]);
  }
}
