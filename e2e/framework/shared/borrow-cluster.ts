import { clusterLeftovers, nextToDelete } from './cluster-leftovers.ts';
import type { ClusterLeftovers } from './cluster-leftovers.ts';

/** What is kept about a shared cluster that is completely up. */
export interface SharedRecord {
  /** What the cluster holds while nobody uses it. */
  readonly baseline: readonly string[];
  /** Whether somebody uses it, or has ended without giving it back. */
  readonly isLent: boolean;
}

/** How a shared cluster is handled. */
export interface SharedClusterSteps<C> {
  /** Undefined when it is not up, or only half. */
  record(): Promise<SharedRecord | undefined>;
  keep(record: SharedRecord): Promise<void>;
  start(): Promise<C>;
  attach(): Promise<C>;
  /** Ends what this process does with it. */
  detach(cluster: C): void;
  /** Removes it with everything; harmless when there is none. */
  remove(): Promise<void>;
  /** What it holds; see `readClusterState`. */
  state(cluster: C): Promise<readonly string[]>;
  /** Asks for the end of objects and machines, without waiting for it. Nothing is thrown for what refuses: it is asked again. */
  clear(cluster: C, what: Pick<ClusterLeftovers, 'objects' | 'machines'>): Promise<void>;
  /** Waits a moment; false when it is time to give up on what does not go. */
  wait(): Promise<boolean>;
  /** Says what is done. */
  log(step: string, detail: string): void;
}

/** A shared cluster while a scenario uses it. Disposing gives it back, with nothing of the scenario on it. */
export interface BorrowedCluster<C> extends AsyncDisposable {
  readonly cluster: C;
}

/**
 * Lends the cluster that scenarios share one after the other; the first one starts it. Whoever gives it back has it cleared. If something
 * of the scenario stays nevertheless, or something else is not as it was, that is an error, and the next scenario gets another cluster.
 */
export async function borrowCluster<C>(steps: SharedClusterSteps<C>): Promise<BorrowedCluster<C>> {
  const found = await steps.record();
  const cluster = found?.isLent === false ? await attached(steps) : undefined;
  if (found !== undefined && cluster !== undefined) return lend(steps, cluster, found.baseline);
  // What is left of one that was not given back, or that was started half.
  await steps.remove();
  const fresh = await steps.start();
  try {
    return await lend(steps, fresh, await steps.state(fresh));
  } catch (error) {
    await steps.remove();
    throw error;
  }
}

/** Undefined when it does not answer as it should. */
async function attached<C>(steps: SharedClusterSteps<C>): Promise<C | undefined> {
  try {
    return await steps.attach();
  } catch (error) {
    steps.log('shared cluster', `is replaced: ${(error as Error).message}`);
    return undefined;
  }
}

async function lend<C>(
  steps: SharedClusterSteps<C>,
  cluster: C,
  baseline: readonly string[],
): Promise<BorrowedCluster<C>> {
  await steps.keep({ baseline, isLent: true });
  let isGivenBack = false;
  return {
    cluster,
    async [Symbol.asyncDispose]() {
      if (isGivenBack) return;
      isGivenBack = true;
      const left = await cleared(steps, cluster, baseline);
      steps.detach(cluster);
      if (left.length === 0) {
        await steps.keep({ baseline, isLent: false });
        return;
      }
      await steps.remove();
      throw new Error(`This is left on the management cluster that scenarios share:\n${left.join('\n')}`);
    },
  };
}

/** Clears the cluster, and says what stays; empty when it is as it was. */
async function cleared<C>(
  steps: SharedClusterSteps<C>,
  cluster: C,
  baseline: readonly string[],
): Promise<readonly string[]> {
  for (;;) {
    let lines: readonly string[];
    try {
      const left = clusterLeftovers(baseline, await steps.state(cluster));
      if (left.lines.length === 0) return [];
      lines = left.lines;
      await steps.clear(cluster, nextToDelete(left));
    } catch (error) {
      lines = [`nobody knows what, since it does not answer: ${(error as Error).message}`];
    }
    if (!(await steps.wait())) return lines;
  }
}
