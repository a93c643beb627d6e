import path from 'node:path';

import type { Progress } from '../cluster/machines/supplies.ts';
import type { ConformanceTest } from './conformance-tests.ts';
import { runBatch } from './run-batch.ts';
import type { BatchOptions } from './run-batch.ts';
import type { ResultsFile } from './results-file.ts';

/** How the chosen tests are run. */
export interface LaneOptions extends Pick<BatchOptions, 'e2eTest' | 'stage' | 'folder' | 'signal'> {
  readonly results: ResultsFile;
  readonly lanes: number;
  /** Of `performance.now()`. */
  readonly deadline: number;
  readonly tell: Progress;
}

/** So many tests one e2e.test runs: what is lost when the run is cut off, against what its start costs. */
const batchSize = 8;

/**
 * Tests in batches of one special interest group each, so that a log is about one subject; the groups take turns, so that a run
 * that is cut off has seen something of each.
 */
export function batches(tests: readonly ConformanceTest[]): readonly (readonly ConformanceTest[])[] {
  const groups = [...Map.groupBy(tests, ({ sig }) => sig).values()];
  const longest = Math.max(0, ...groups.map(({ length }) => length));
  const starts = Array.from({ length: Math.ceil(longest / batchSize) }, (_, index) => index * batchSize);
  return starts.flatMap((start) =>
    groups.map((group) => group.slice(start, start + batchSize)).filter(({ length }) => length > 0),
  );
}

/**
 * Runs the tests, those that want to be alone last and alone, until they are done or the time is over.
 * @throws Error when e2e.test could not run a batch; the other lanes have ended by then.
 */
export async function runLanes(tests: readonly ConformanceTest[], options: LaneOptions): Promise<void> {
  const failing = new AbortController();
  const inLane = { ...options, signal: AbortSignal.any([options.signal, failing.signal]) };
  const queue = batches(tests.filter(({ serial }) => !serial)).values();
  const lanes = Array.from({ length: options.lanes }, async (_, index) => {
    await drain(queue, `lane-${index + 1}`, inLane).catch((error: unknown) => {
      failing.abort();
      throw error;
    });
  });
  const failed = (await Promise.allSettled(lanes)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
  await drain(batches(tests.filter(({ serial }) => serial)).values(), 'alone', inLane);
}

async function drain(
  queue: IterableIterator<readonly ConformanceTest[]>,
  lane: string,
  { deadline, tell, results, ...options }: LaneOptions,
): Promise<void> {
  for (const batch of queue) {
    const limitMs = deadline - performance.now();
    if (limitMs <= 0 || options.signal.aborted) return;
    const folder = path.join(options.folder, 'batches', `${Date.now()}-${lane}`);
    const found = await runBatch(batch, { ...options, folder, limitMs });
    await results.add(found);
    for (const { name, outcome, seconds } of found) {
      if (outcome !== 'passed') tell(outcome, `${name} (${seconds} s; ${folder})`);
    }
    const passed = found.filter(({ outcome }) => outcome === 'passed').length;
    tell(batch[0]?.sig ?? '', `${passed} of ${batch.length} passed`);
  }
}
