import { slowness } from '../../e2e/cluster/slowness.ts';
import type { SharedKind } from '../../e2e/framework/shared/shared-names.ts';
import { knownSeconds } from './known-seconds.ts';
import { jestItself } from './run-jest.ts';
import { scenarioName } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import { scenarioOrder } from './scenario-order.ts';
import { ScenarioQueue } from './scenario-queue.ts';
import { scenarioWork } from './scenario-work.ts';
import type { ScenarioWork } from './scenario-work.ts';
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
  /** How many run at the same time, at most: see `slowPace`. */
  readonly lanes: number;
  /** No other scenario begins when it is aborted. */
  readonly signal: AbortSignal;
  /** A file's path as it is told. */
  readonly fromHere: (file: string) => string;
}

/**
 * Where scenarios take so many times longer than on two good processors, they run one after the other: two at once would take as long
 * there, and pods of both would fail their probes.
 */
const slowPace = 1.5;

/** What came of the scenarios. */
export interface ScenariosResult extends TierResult {
  /** Names of those for which there was no time. */
  readonly late: readonly string[];
}

/** A scenario that takes so many times longer than expected hangs, and not before a quarter of an hour. */
const hangsAfter = 4;
const leastMinutes = 15;

/** How many minutes a scenario may run past `until`: the machine may become slower while it runs. */
const overrunMinutes = 3;

/** Minutes after `until` that are reserved for scenarios that failed and are run once more. */
const againMinutes = 5;

/**
 * Builds what scenarios need, and runs them. Scenarios for which no time is left are left out. If only a few failed, they are run once
 * more while there is time. Clusters that scenarios share are removed when nobody needs them anymore, and at the end in any case.
 */
export async function runScenarios(
  limits: ScenarioLimits,
  work: ScenarioWork = scenarioWork(limits.fromHere),
): Promise<ScenariosResult> {
  try {
    await work.prepare(limits.signal);
  } catch (error) {
    // Whoever ended the tests knows why; the end of the output says that they were ended.
    if (limits.signal.aborted) return { tests: [], flaky: [], late: [] };
    return { ...noTests, tests: [failure(`scenarios could not be prepared: ${(error as Error).message}`)] };
  }
  const { leftOut, seed } = limits;
  const scenarios = (await work.scenarios()).filter(({ name }) => !leftOut.includes(name));
  const run = new ScenarioRun(scenarios, limits, work);
  let result: ScenariosResult;
  try {
    result = await runTwice(run, limits, scenarioOrder(scenarios, seed));
  } finally {
    await run.removeShared();
  }
  return { ...result, tests: [...result.tests, ...run.leftBehind] };
}

const noTests: ScenariosResult = { tests: [], flaky: [], late: [] };

async function runTwice(
  run: ScenarioRun,
  limits: ScenarioLimits,
  order: readonly Scenario[],
): Promise<ScenariosResult> {
  const seconds = knownScenarios();
  const queue = new ScenarioQueue({ order: order.map(({ name }) => name), seconds, slowness: slowness() });
  const first = await run.all(queue, limits.until);
  // One that was ended because it hung is not run again.
  const again = failedFiles(first)
    .filter((file) => file !== jestItself)
    .map(scenarioName);
  if (again.length === 0 || again.length > mostFilesAgain || limits.signal.aborted)
    return { tests: first, flaky: [], late: queue.waiting };
  run.print(`── e2e: once more: ${again.join(', ')}`);
  const retried = new ScenarioQueue({ order: again, seconds, slowness: queue.pace });
  const { until } = limits;
  const second = await run.all(retried, until === undefined ? undefined : until + againMinutes * 60_000);
  return { ...withSecondRun(first, second), late: queue.waiting };
}

/** Runs scenarios in lanes, of which no two use the same shared cluster. */
class ScenarioRun {
  /** What was left on the host of shared clusters, as failed tests. */
  readonly leftBehind: TestResult[] = [];
  readonly #shares: ReadonlyMap<string, SharedKind | undefined>;
  readonly #limits: ScenarioLimits;
  readonly #work: ScenarioWork;

  constructor(scenarios: readonly Scenario[], limits: ScenarioLimits, work: ScenarioWork) {
    this.#shares = new Map(scenarios.map(({ name, shares }) => [name, shares]));
    this.#limits = limits;
    this.#work = work;
  }

  print(line: string): void {
    this.#work.print(line);
  }

  /** Runs those of a queue for which there is time, and returns their tests in the order in which they ended. */
  async all(queue: ScenarioQueue, until: number | undefined): Promise<readonly TestResult[]> {
    const { signal } = this.#limits;
    const tests: TestResult[] = [];
    const running = new Map<string, Promise<void>>();
    const mayBegin = (name: string): boolean => {
      const kind = this.#shares.get(name);
      return kind === undefined || ![...running.keys()].some((other) => this.#shares.get(other) === kind);
    };
    for (;;) {
      while (running.size < this.#lanes(queue) && !signal.aborted) {
        const left = until === undefined ? Infinity : (until - this.#work.now()) / 1000;
        const name = queue.next(left, mayBegin);
        if (name === undefined) break;
        const one = this.#one(name, queue, left).then(async (ended) => {
          tests.push(...ended);
          running.delete(name);
          await this.#endShared(name, ended, [...queue.waiting, ...running.keys()]);
        });
        running.set(name, one);
      }
      if (running.size === 0) return tests;
      await Promise.race(running.values());
    }
  }

  #lanes({ pace }: ScenarioQueue): number {
    return pace > slowPace ? 1 : this.#limits.lanes;
  }

  /** Removes the shared clusters of one kind, or of all kinds. */
  async removeShared(kind?: SharedKind): Promise<void> {
    const left = await this.#work.removeShared(kind).catch((error: unknown) => [(error as Error).message]);
    if (left.length > 0)
      this.leftBehind.push(failure(`a cluster that scenarios share leaves nothing on the host: ${left.join(', ')}`));
  }

  /** A cluster is removed when no other scenario needs it, and when one has failed on it: the next one gets another. */
  async #endShared(name: string, tests: readonly TestResult[], others: readonly string[]): Promise<void> {
    const kind = this.#shares.get(name);
    if (kind === undefined) return;
    const isNeeded = others.some((other) => this.#shares.get(other) === kind);
    if (!isNeeded || failedFiles(tests).length > 0) await this.removeShared(kind);
  }

  async #one(name: string, queue: ScenarioQueue, left: number): Promise<readonly TestResult[]> {
    const expected = queue.expected(name);
    const hangs = Math.max((expected * hangsAfter) / 60, leastMinutes * slowness());
    const minutes = Math.min(hangs, left / 60 + overrunMinutes);
    const ofTheRest = left === Infinity ? '' : ` of the ${left.toFixed(0)} s that are left`;
    this.print(`── e2e: ${name}, about ${expected.toFixed(0)} s${ofTheRest}`);
    const began = this.#work.now();
    const { tests } = await this.#work.run(name, minutes);
    const seconds = (this.#work.now() - began) / 1000;
    this.print(`   ${seconds.toFixed(0)} s: ${name}`);
    // One that failed early says nothing about the others.
    if (failedFiles(tests).length === 0 || seconds > expected) queue.ended(name, seconds);
    return tests;
  }
}

function failure(name: string): TestResult {
  return { file: jestItself, name, outcome: 'failed', seconds: 0 };
}

function knownScenarios(): ReadonlyMap<string, number> {
  const prefix = 'e2e/scenarios/';
  const known = [...knownSeconds].filter(([file]) => file.startsWith(prefix));
  return new Map(known.map(([file, seconds]) => [scenarioName(file), seconds]));
}
