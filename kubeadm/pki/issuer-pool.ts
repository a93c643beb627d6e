/** Runs at most a fixed number of jobs at a time, in the order they came. */
export interface IssuerPool {
  run<T>(job: () => Promise<T>): Promise<T>;
}

/**
 * A pool for issuing certificates: generating an RSA key occupies one thread of Node's pool, which DNS look-ups use as
 * well. `limit` is a whole number of at least 1.
 */
export function createIssuerPool(limit: number): IssuerPool {
  if (!Number.isInteger(limit) || limit < 1)
    throw new RangeError(`limit must be a whole number of at least 1, not ${limit}`);
  const waiting: (() => void)[] = [];
  let free = limit;
  const enter = async (): Promise<void> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return {
    async run(job) {
      await enter();
      try {
        return await job();
      } finally {
        leave();
      }
    },
  };
}
