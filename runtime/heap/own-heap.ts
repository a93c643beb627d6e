import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { IdleCollectorOptions } from './idle-collector.ts';

/** The heap of this process. */
export function ownHeap(): Pick<IdleCollectorOptions, 'look' | 'collect'> {
  let before = performance.eventLoopUtilization();
  // Contexts that are made after this have the function; the one of this program has not.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  return {
    look: () => {
      const now = performance.eventLoopUtilization();
      const { utilization: busy } = performance.eventLoopUtilization(now, before);
      before = now;
      return { busy, committedBytes: getHeapStatistics().total_heap_size };
    },
    collect,
  };
}
