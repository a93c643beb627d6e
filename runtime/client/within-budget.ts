import type { Clock } from '../clock.ts';

/**
 * Does work that may take `budgetMs` milliseconds. After that its signal aborts and the promise rejects, whether or not the
 * work observes the signal. `what` names it in the message, e.g. `the rule`.
 */
export async function withinBudget<T>(
  work: (signal: AbortSignal) => T | Promise<T>,
  { clock, budgetMs, what }: { readonly clock: Clock; readonly budgetMs: number; readonly what: string },
): Promise<T> {
  const late = new AbortController();
  const timeout = Promise.withResolvers<never>();
  const timer = clock.after(budgetMs, () => {
    const why = new Error(`${what} took longer than ${budgetMs / 1000} s`);
    late.abort(why);
    timeout.reject(why);
  });
  try {
    return await Promise.race([work(late.signal), timeout.promise]);
  } finally {
    timer.cancel();
  }
}
