import type { Clock, Timer } from '../../../../runtime/clock.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import { UnreachableError } from '../../../../runtime/client/errors.ts';

/** What stages need of a workload cluster. */
export type WorkloadClient = Pick<Cluster, 'get' | 'apply' | 'delete' | 'text'>;

/**
 * A client that works for so many milliseconds of one reconcile: time counts while calls are in progress, not while charts are rendered.
 * After that, every call fails with `UnreachableError`: otherwise a server that is slow, or hangs at each call, would hold a worker for as
 * long as there are calls to make.
 */
export function withinBudget(client: WorkloadClient, clock: Clock, budgetMs: number): WorkloadClient {
  const spent = new AbortController();
  const { promise: end, reject } = Promise.withResolvers<never>();
  // It may be that nothing awaits it.
  end.catch(() => undefined);
  let [left, running, since] = [budgetMs, 0, 0];
  let timer: Timer | undefined;
  const spend = (): void => {
    const error = new UnreachableError(
      `its API server took ${budgetMs / 1000} s of one reconcile; the remaining work is left to later ones`,
    );
    reject(error);
    spent.abort(error);
  };
  const begin = (): void => {
    running += 1;
    if (running > 1) return;
    since = clock.monotonic();
    timer = clock.after(left, spend);
  };
  const finish = (): void => {
    running -= 1;
    if (running > 0) return;
    timer?.cancel();
    left = Math.max(left - (clock.monotonic() - since), 0);
  };
  const within = async <T>(outer: AbortSignal | undefined, call: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    spent.signal.throwIfAborted();
    begin();
    try {
      return await Promise.race([
        call(outer === undefined ? spent.signal : AbortSignal.any([outer, spent.signal])),
        end,
      ]);
    } finally {
      finish();
    }
  };
  return {
    get: (kind, key, options) => within(options?.signal, (signal) => client.get(kind, key, { ...options, signal })),
    apply: (kind, manifest, options) =>
      within(options.signal, (signal) => client.apply(kind, manifest, { ...options, signal })),
    delete: (kind, key, options) =>
      within(options?.signal, (signal) => client.delete(kind, key, { ...options, signal })),
    text: (path, options) => within(options?.signal, (signal) => client.text(path, { ...options, signal })),
  };
}
