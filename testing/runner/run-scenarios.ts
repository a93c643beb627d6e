import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { seededNumber } from '../../e2e/framework/run-seed.ts';
import { slowness } from '../../e2e/cluster/slowness.ts';
import prepareScenarios from '../servers/e2e-global-setup.ts';
import { knownSeconds } from './known-seconds.ts';
import { jestItself, runJest } from './run-jest.ts';
import type { JestOutcome } from './run-jest.ts';
import { ScenarioQueue } from './scenario-queue.ts';
import { beyondCore } from './test-scope.ts';
import { failedFiles, mostFilesAgain, withSecondRun } from './tier-result.ts';
import type { TestResult, TierResult } from './tier-result.ts';

/** What the scenarios have to keep to. */
export interface ScenarioLimits {
  /** When they have to end, in milliseconds since 1970; undefined: all are run, however long they take. */
  readonly until: number | undefined;
  /** Decides their order, and so which are left out when there is no time for all. */
  readonly seed: number;
  /** Names of scenarios that are not run. */
  readonly leftOut: readonly string[];
  /** No other scenario begins when it is aborted. */
  readonly signal: AbortSignal;
  /** A file's path as it is told. */
  readonly fromHere: (file: string) => string;
}

/** What came of the scenarios. */
export interface ScenariosResult extends TierResult {
  /** Names of those for which there was no time. */
  readonly late: readonly string[];
}

const folder = join(import.meta.dirname, '../../e2e/scenarios');
const ending = '.test.ts';

/** A scenario that takes so many times longer than expected hangs, and not before a quarter of an hour. */
const hangsAfter = 4;
const leastMinutes = 15;

/** How many minutes a scenario may run past `until`: the machine may become slower while it runs. */
const overrunMinutes = 3;

/** Minutes after `until` that are reserved for scenarios that failed and are run once more. */
const againMinutes = 5;

/**
 * Builds what scenarios need, and runs them one after the other: two clusters on two processors fail each other's time limits. Scenarios
 * for which no time is left are left out. If only a few failed, they are run once more while there is time.
 */
export async function runScenarios(limits: ScenarioLimits): Promise<ScenariosResult> {
  try {
    await prepareScenarios({ nonFlagArgs: [] });
  } catch (error) {
    const name = `scenarios could not be prepared: ${(error as Error).message}`;
    return { tests: [{ file: jestItself, name, outcome: 'failed', seconds: 0 }], flaky: [], late: [] };
  }
  const queue = new ScenarioQueue({
    order: await scenarioOrder(limits),
    seconds: knownScenarios(),
    slowness: slowness(),
  });
  const first = await runAll(queue, limits);
  // One that was ended because it hung is not run again.
  const again = failedFiles(first)
    .filter((file) => file !== jestItself)
    .map((file) => basename(file, ending));
  if (again.length === 0 || again.length > mostFilesAgain || limits.signal.aborted)
    return { tests: first, flaky: [], late: queue.waiting };
  console.log(`── e2e: once more: ${again.join(', ')}`);
  const retried = new ScenarioQueue({ order: again, seconds: knownScenarios(), slowness: queue.pace });
  const { until } = limits;
  const second = await runAll(retried, { ...limits, until: until && until + againMinutes * 60_000 });
  return { ...withSecondRun(first, second), late: queue.waiting };
}

async function runAll(queue: ScenarioQueue, limits: ScenarioLimits): Promise<readonly TestResult[]> {
  const tests: TestResult[] = [];
  while (!limits.signal.aborted) {
    const left = secondsLeft(limits);
    const name = queue.next(left);
    if (name === undefined) break;
    const hangs = Math.max((queue.expected(name) * hangsAfter) / 60, leastMinutes * slowness());
    const minutes = Math.min(hangs, left / 60 + overrunMinutes);
    console.log(`── e2e: ${name}, about ${queue.expected(name).toFixed(0)} s${timeLeft(left)}`);
    const began = performance.now();
    const outcome = await runScenario(name, minutes, limits);
    const seconds = (performance.now() - began) / 1000;
    console.log(`   ${seconds.toFixed(0)} s: ${name}`);
    // One that failed early says nothing about the others.
    if (failedFiles(outcome.tests).length === 0 || seconds > queue.expected(name)) queue.ended(name, seconds);
    tests.push(...outcome.tests);
  }
  return tests;
}

function runScenario(name: string, minutes: number, { fromHere }: ScenarioLimits): Promise<JestOutcome> {
  const options = ['--runInBand', '--runTestsByPath', join(folder, `${name}${ending}`)];
  return runJest({ tier: 'e2e', options, minutes, fromHere });
}

function secondsLeft({ until }: ScenarioLimits): number {
  return until === undefined ? Infinity : (until - Date.now()) / 1000;
}

function timeLeft(seconds: number): string {
  return seconds === Infinity ? '' : ` of the ${seconds.toFixed(0)} s that are left`;
}

/** Those of the core before the others, and each part in an order of this run. */
async function scenarioOrder({ seed, leftOut }: ScenarioLimits): Promise<readonly string[]> {
  const names = (await readdir(folder))
    .filter((file) => file.endsWith(ending))
    .map((file) => basename(file, ending))
    .filter((name) => !leftOut.includes(name));
  const isBeyond = (name: string): number => (beyondCore.some((each) => each === name) ? 1 : 0);
  const place = (name: string): number => seededNumber(seed, `the turn of ${name}`, 0, 2 ** 31);
  return names.toSorted((a, b) => isBeyond(a) - isBeyond(b) || place(a) - place(b));
}

function knownScenarios(): ReadonlyMap<string, number> {
  const prefix = 'e2e/scenarios/';
  const known = [...knownSeconds].filter(([file]) => file.startsWith(prefix));
  return new Map(known.map(([file, seconds]) => [basename(file, ending), seconds]));
}
