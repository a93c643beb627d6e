import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { IdleCollectorOptions } from './idle-collector.ts';

/**
 * V8 keeps the pages of a young generation that has shrunk, up to 18 MiB, until a collection of this kind. It takes twice as long: 20 ms for 15 MiB
 * that are in use, 110 ms for 60.
 */
const lastResort = { type: 'major', execution: 'sync', flavor: 'last-resort' } as const;
const smallBytes = 64 * 1024 * 1024;

type Collect = (options?: typeof lastResort) => void;

/** The heap of this process. While it is small, the pages that V8 has spare are given back as well. */
export function ownHeap(): Pick<IdleCollectorOptions, 'look' | 'collect'> {
  let before = performance.eventLoopUtilization();
  // Contexts that are made after this have the function; the one of this program has not.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  const committedBytes = (): number => getHeapStatistics().total_heap_size;
  return {
    look: () => {
      const now = performance.eventLoopUtilization();
      const { utilization: busy } = performance.eventLoopUtilization(now, before);
      before = now;
      return { busy, committedBytes: committedBytes() };
    },
    collect: () => {
      if (committedBytes() < smallBytes) collect(lastResort);
      else collect();
    },
  };
}
