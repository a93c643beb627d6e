import path from 'node:path';

import type { Harness } from './harness.ts';
import { startBackground } from './machines/start-background.ts';

/** Gives addresses and volumes to a management cluster's Services and claims from a process that outlives this one and ends with the harness. */
export async function serveInBackground(harness: Harness): Promise<void> {
  const main = path.join(import.meta.dirname, 'main.ts');
  await startBackground(harness, 'serve', [process.execPath, main, 'serve', harness.name]);
}
