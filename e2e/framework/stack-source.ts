import { cp, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';

import { moduleFolder } from '../tools/module-folder.ts';

const root = path.join(import.meta.dirname, '../..');

/**
 * A copy of the stack of `e2e/fixtures/stacks`, with metrics-server's chart as its publisher's module holds it: what
 * `helm dependency build` would fetch.
 */
export async function stackSource(into: string): Promise<string> {
  await rm(into, { recursive: true, force: true });
  await mkdir(into, { recursive: true });
  await cp(path.join(root, 'e2e', 'fixtures', 'stacks', 'netns', 'steward'), into, { recursive: true });
  const module = await moduleFolder('metrics-server');
  const chart = path.join(module, 'charts', 'metrics-server');
  const vendored = path.join(into, 'cluster-addon', 'metrics-server', 'charts', 'metrics-server');
  await cp(chart, vendored, { recursive: true });
  return into;
}
