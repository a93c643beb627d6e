import type { Clock, Timer } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/cluster.ts';
import { UnreachableError } from '../../runtime/errors.ts';

/** What stages need of a workload cluster. */
export type WorkloadDoor = Pick<Cluster, 'get' | 'apply' | 'delete' | 'text'>;

/**
 * A door that is open for so many milliseconds of one visit: time counts while calls are under way, and not while charts are
 * rendered. When it is spent, every call fails with `UnreachableError`: a server that is slow, or hangs at each call, would hold a
 * worker otherwise for as long as there are calls to make.
 */
export function withinBudget(door: WorkloadDoor, clock: Clock, budgetMs: number): WorkloadDoor {
  const spent = new AbortController();
  const { promise: end, reject } = Promise.withResolvers<never>();
  // It may be that nobody waits for it.
  end.catch(() => undefined);
  let [left, running, since] = [budgetMs, 0, 0];
  let timer: Timer | undefined;
  const spend = (): void => {
    const error = new UnreachableError(
      `its API server took ${budgetMs / 1000} s of one visit; what is left to do is done in later ones`,
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
    get: (kind, key, options) => within(options?.signal, (signal) => door.get(kind, key, { ...options, signal })),
    apply: (kind, manifest, options) =>
      within(options.signal, (signal) => door.apply(kind, manifest, { ...options, signal })),
    delete: (kind, key, options) => within(options?.signal, (signal) => door.delete(kind, key, { ...options, signal })),
    text: (path, options) => within(options?.signal, (signal) => door.text(path, { ...options, signal })),
  };
}
