import type { Cluster } from '../../runtime/client/cluster.ts';
import { wrapCluster } from '../../runtime/client/wrap-cluster.ts';
import { CrashError } from './fake-faults.ts';

/** The client of a process that dies: after the given number of calls nothing it does arrives anymore. */
export interface CrashingCluster extends Cluster {
  /** Calls that had an effect. */
  readonly calls: number;
  readonly crashed: boolean;
  /** The last of `calls` more calls takes effect, but its answer never arrives. */
  crashAfter(calls: number): void;
  restart(): void;
}

/** The same client, for a process that can be made to die. */
export function crashingCluster(cluster: Cluster): CrashingCluster {
  let left = Infinity;
  let calls = 0;
  const mortal = wrapCluster(cluster, async ({ send }) => {
    if (left <= 0) throw new CrashError('the process is dead');
    left -= 1;
    const isLast = left === 0;
    const answer = await send();
    calls += 1;
    if (isLast) throw new CrashError('the process died before the answer');
    return answer;
  });
  return {
    ...mortal,
    get calls() {
      return calls;
    },
    get crashed() {
      return left <= 0;
    },
    crashAfter: (more) => {
      left = more;
    },
    restart: () => {
      left = Infinity;
    },
  };
}
