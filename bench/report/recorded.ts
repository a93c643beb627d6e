import { existsSync } from 'node:fs';

import type { Presentation } from './presentation.ts';
import { presentations } from './presentations.ts';
import { readResult, resultPath } from './result-file.ts';
import type { BenchResult } from './result-file.ts';

/** A committed result and how it is shown. */
export interface Recorded {
  readonly presentation: Presentation;
  readonly result: BenchResult<unknown>;
}

/** What has a committed result. */
export async function readRecorded(): Promise<readonly Recorded[]> {
  const having = presentations.filter(({ name }) => existsSync(resultPath(name)));
  return Promise.all(
    having.map(async (presentation) => ({ presentation, result: await readResult<unknown>(presentation.name) })),
  );
}
