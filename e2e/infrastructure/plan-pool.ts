/** One machine of a pool, as far as the plan needs to know it. */
export interface PoolMachine {
  readonly name: string;
  /** Kubernetes version that it was made for. */
  readonly version: string;
  readonly provisioned: boolean;
  readonly deleting: boolean;
}

/** What is to be done for a pool. */
export interface PoolPlan {
  /** How many machines are to be made, of the pool's version. */
  readonly create: number;
  /** Names of machines that are to go. */
  readonly remove: readonly string[];
}

/**
 * Compares a pool with its machines. Machines of another version are replaced: new ones come first, and the old ones go
 * when as many as are wanted are provisioned.
 */
export function planPool(replicas: number, version: string, machines: readonly PoolMachine[]): PoolPlan {
  const staying = machines.filter(({ deleting }) => !deleting);
  const [current, old] = [
    staying.filter((one) => one.version === version),
    staying.filter((one) => one.version !== version),
  ];
  // The ones that serve are kept, as long as there is a choice.
  const byUse = current.toSorted((a, b) => Number(b.provisioned) - Number(a.provisioned));
  const surplus = byUse.slice(replicas);
  const served = byUse.slice(0, replicas).filter(({ provisioned }) => provisioned).length;
  const replaced = served >= replicas ? old : [];
  return {
    create: Math.max(0, replicas - current.length),
    remove: [...surplus, ...replaced].map(({ name }) => name),
  };
}
