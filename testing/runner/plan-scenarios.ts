import { basename } from 'node:path';
import { seededNumber } from '../../e2e/framework/run-seed.ts';
import { slowness } from '../../e2e/framework/slowness.ts';
import prepareScenarios from '../servers/e2e-global-setup.ts';
import { knownSeconds } from './known-seconds.ts';
import { leftOutForTime } from './scenario-plan.ts';
import { beyondCore, withoutVariable } from './test-scope.ts';

/** What the scenarios have to keep to. */
export interface Limits {
  /** When they have to end, in milliseconds since 1970. */
  readonly until: number;
  /** Decides which of those beyond the core are left out: others in each run. */
  readonly seed: number;
  /** Left out already. */
  readonly leftOut: readonly string[];
}

const ending = '.test.ts';

/** Builds what scenarios need, has jest leave out those for which there is no time, and returns their names. */
export async function planScenarios({ until, seed, leftOut }: Limits): Promise<readonly string[]> {
  await prepareScenarios({ nonFlagArgs: [] });
  const seconds = new Map(
    [...knownSeconds]
      .filter(([file]) => file.startsWith('e2e/scenarios/'))
      .map(([file, taken]): [string, number] => [basename(file, ending), taken])
      .filter(([name]) => !leftOut.includes(name)),
  );
  const order = (name: string): number => seededNumber(seed, `leaving out ${name}`, 0, 2 ** 31);
  const mayWait = beyondCore.toSorted((a, b) => order(a) - order(b));
  const secondsLeft = (until - Date.now()) / 1000;
  const late = leftOutForTime({ seconds, mayWait, slowness: slowness(), secondsLeft });
  process.env[withoutVariable] = late.join(',');
  const words = late.length === 0 ? 'all scenarios are run' : `there is no time for ${late.join(', ')}`;
  console.log(
    `── e2e: ${(secondsLeft / 60).toFixed(0)} minutes are left on a machine that takes ${slowness().toFixed(1)} times as long: ${words}`,
  );
  return late;
}
