import { existsSync, readFileSync } from 'node:fs';

const file = '/proc/self/schedstat';

/** Nanoseconds for which the main thread ran, and for which it waited for a processor (https://docs.kernel.org/scheduler/sched-stats.html). */
function turns(): { readonly ran: number; readonly waited: number } {
  const [ran = 0, waited = 0] = existsSync(file) ? readFileSync(file, 'utf8').split(' ').map(Number) : [];
  return { ran, waited };
}

/**
 * Begins to watch how crowded the processors are. The result says by how much longer this process took since then because of others: 1 on an
 * idle machine, 2 when it waited for a processor as long as it had one; 1 also where the kernel does not count that.
 */
export function watchCrowding(): () => number {
  const before = turns();
  return () => {
    const after = turns();
    const ran = after.ran - before.ran;
    return ran > 0 ? (ran + after.waited - before.waited) / ran : 1;
  };
}
