import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { gatherSupplies } from '../../e2e/cluster/machines/supplies.ts';
import { writeManagerImage } from '../../release/manager-image.ts';
import { builtManagerVariable } from '../../e2e/framework/install-steward.ts';
import { preparePolicyAgent } from '../../e2e/framework/network/policy-agent.ts';
import { sharedOwnerVariable } from '../../e2e/framework/shared/shared-names.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { sampleApiServerArchive } from '../../e2e/tools/sample-api-server-image.ts';
import { traefikArchive } from '../../e2e/tools/traefik-image.ts';
import { testScope } from '../runner/test-scope.ts';
import type { beyondCore } from '../runner/test-scope.ts';

const cache = join(import.meta.dirname, '..', '..', '.cache');

/** The manager's image of all scenarios, when it is built once for them. */
export const managerArchive = join(cache, 'steward.tar');

/**
 * jest calls this once before the tests of tier `e2e`. When all scenarios are run, everything that any of them needs is built first:
 * beside a compiler, control planes answer too late for what the scenarios ask of them. Scenarios that are named build for themselves.
 */
// eslint-disable-next-line no-restricted-syntax -- jest takes the default export
export default async function setUp({ nonFlagArgs }: { readonly nonFlagArgs: readonly string[] }): Promise<void> {
  // Whoever runs several of these runs has said already who removes what their scenarios share; else it is the teardown.
  process.env[sharedOwnerVariable] ??= String(process.pid);
  if (nonFlagArgs.length > 0 || process.env[builtManagerVariable] !== undefined) return;
  const progress = (line: string): void => void process.stderr.write(`${line}\n`);
  for (const { version, inTests } of testScope().releases) {
    if (inTests !== 'all') continue;
    await gatherSupplies(version, (step, detail = '') => {
      progress(`${step}: ${detail}`);
    });
  }
  await resolveTools(['clusterctl', 'helm', 'kustomize', 'metrics-server', 'registry'], { progress });
  const isRun = (scenario: (typeof beyondCore)[number]): boolean => !testScope().leftOut.includes(scenario);
  if (isRun('konnectivity')) await sampleApiServerArchive(progress);
  if (isRun('exposure')) await traefikArchive(progress);
  if (isRun('network-policies')) await preparePolicyAgent(progress);
  if (isRun('restore-elsewhere')) await resolveTools(['versitygw'], { progress });
  await mkdir(cache, { recursive: true });
  await writeManagerImage(managerArchive);
  process.env[builtManagerVariable] = managerArchive;
}
