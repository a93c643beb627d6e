import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { gatherSupplies } from '../../e2e/cluster/machines/supplies.ts';
import { writeManagerImage } from '../../release/manager-image.ts';
import { builtManagerVariable } from '../../e2e/framework/install-steward.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { sampleApiServerArchive } from '../../e2e/tools/sample-api-server-image.ts';
import { testScope } from '../runner/test-scope.ts';

/**
 * jest calls this once before the tests of tier `e2e`. When all scenarios are run, everything that any of them needs is built first:
 * beside a compiler, control planes answer too late for what the scenarios ask of them. Scenarios that are named build for themselves.
 */
// eslint-disable-next-line no-restricted-syntax -- jest takes the default export
export default async function setUp({ nonFlagArgs }: { readonly nonFlagArgs: readonly string[] }): Promise<void> {
  if (nonFlagArgs.length > 0 || process.env[builtManagerVariable] !== undefined) return;
  const progress = (line: string): void => void process.stderr.write(`${line}\n`);
  for (const { version, programs } of testScope().releases) {
    if (programs !== 'all') continue;
    await gatherSupplies(version, (step, detail = '') => {
      progress(`${step}: ${detail}`);
    });
  }
  await resolveTools(['clusterctl', 'helm', 'kustomize', 'metrics-server', 'registry'], { progress });
  await sampleApiServerArchive(progress);
  process.env[builtManagerVariable] = await builtManager();
}

/** The manager's image, once for all scenarios. */
async function builtManager(): Promise<string> {
  const folder = join(import.meta.dirname, '..', '..', '.cache');
  await mkdir(folder, { recursive: true });
  const archive = join(folder, 'steward.tar');
  await writeManagerImage(archive);
  return archive;
}
