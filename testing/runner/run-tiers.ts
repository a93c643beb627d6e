import { relative } from 'node:path';
import { preflight } from '../../e2e/cluster/preflight.ts';
import { givenSeed, newSeed, runSeedVariable } from '../../e2e/framework/run-seed.ts';
import { givenSlowness, slowness, slownessVariable } from '../../e2e/cluster/slowness.ts';
import { jestItself, runJest } from './run-jest.ts';
import { runScenarios } from './run-scenarios.ts';
import { scenarioLanes } from './scenario-lanes.ts';
import { testScope, testScopeVariable } from './test-scope.ts';
import { unbuiltNote, unbuiltScenarios } from './unbuilt-scenarios.ts';
import { failedFiles, flakyFailures, mostFilesAgain, withSecondRun } from './tier-result.ts';
import type { TestResult, TierResult } from './tier-result.ts';

/** One tier of tests: a jest project, in the order of how soon it can fail. */
interface Tier {
  readonly name: 'unit' | 'contract' | 'api' | 'capi' | 'e2e';
  readonly what: string;
  /**
   * How long its tests may take, also those that are run again; what is built before does not count. Some two or three times what
   * they take on two processors, and more for the first, which says how slow the machine is: it ends what hangs, and is no measure of
   * speed. Undefined: each of its files has a limit of its own.
   */
  readonly minutes: number | undefined;
  /** Why this machine cannot run the tier; undefined when it can. */
  readonly unable: () => Promise<string | undefined>;
}

const anywhere = () => Promise.resolve(undefined);
const linuxOnly = () =>
  Promise.resolve(
    process.platform === 'linux' ? undefined : `real servers run on Linux only, this is ${process.platform}`,
  );

const tiers: readonly Tier[] = [
  { name: 'unit', what: 'pure functions and the fake cluster', minutes: 45, unable: anywhere },
  { name: 'contract', what: 'real datastores and the real kubeadm', minutes: 20, unable: linuxOnly },
  { name: 'api', what: 'a real API server and etcd', minutes: 20, unable: linuxOnly },
  { name: 'capi', what: 'the contract with Cluster API, by its real managers', minutes: 15, unable: linuxOnly },
  { name: 'e2e', what: 'real clusters', minutes: undefined, unable: whyNoClusters },
];

async function whyNoClusters(): Promise<string | undefined> {
  const problems = await preflight((step, detail = '') => {
    console.log(`${step}: ${detail}`);
  });
  return problems.length === 0 ? undefined : problems.join('; ');
}

/**
 * Runs one jest project. Servers, processes and clusters share a machine whose pauses nobody controls: when few files failed, those
 * are run once more, alone, and what passes then is named as flaky at the end.
 */
async function run(tier: Tier, minutes: number, signal: AbortSignal): Promise<TierResult> {
  const began = performance.now();
  const first = await jest(tier, minutes, ['--maxWorkers=2']);
  const again = failedFiles(first);
  if (again.length === 0 || again.length > mostFilesAgain || again.includes(jestItself) || signal.aborted)
    return { tests: first, flaky: [] };
  console.log(`── ${tier.name}: once more, alone: ${again.map(fromHere).join(', ')}`);
  const left = Math.max(minutes - (performance.now() - began) / 60_000, minutes / 4);
  return withSecondRun(first, await jest(tier, left, ['--runInBand', '--runTestsByPath', ...again]));
}

async function jest(tier: Tier, minutes: number, options: readonly string[]): Promise<readonly TestResult[]> {
  const { tests, files } = await runJest({ tier: tier.name, options, minutes, fromHere });
  const longest = [...files].filter(([, seconds]) => seconds >= toldFromSeconds).toSorted(([, a], [, b]) => b - a);
  for (const [file, seconds] of longest) console.log(`   ${seconds.toFixed(0)} s: ${fromHere(file)}`);
  return tests;
}

/** Files that take as long are told with their times: where a shorter test would help most. */
const toldFromSeconds = 10;

function fromHere(file: string): string {
  return file === jestItself ? file : relative(process.cwd(), file);
}

async function main(names: readonly string[]): Promise<number> {
  const unknown = names.filter((name) => !tiers.some((tier) => tier.name === name));
  if (unknown.length > 0) {
    console.error(
      `There is no tier called ${unknown.join(', ')}; choose among ${tiers.map(({ name }) => name).join(', ')}.`,
    );
    return 2;
  }
  const { leftOut, releases, clusterApi } = testScope();
  const withScenarios = names.length === 0 || names.includes('e2e');
  const unbuilt = withScenarios ? (await unbuiltScenarios()).filter((name) => !leftOut.includes(name)) : [];
  const until = givenUntil();
  const lanes = scenarioLanes();
  const said = givenSlowness();
  const seed = givenSeed() ?? newSeed();
  process.env[runSeedVariable] = String(seed);
  const chosen = `what is chosen at random is chosen by ${runSeedVariable}=${seed}: give it to choose the same again`;
  console.log(`── ${chosen}`);
  const scope = `THE CORE OF THE TESTS, of Kubernetes ${minors(releases)} and Cluster API ${minors(clusterApi)}, without the scenarios ${leftOut.join(', ')}: ${testScopeVariable}=whole runs all`;
  if (leftOut.length > 0) console.log(`── ${scope}`);
  if (unbuilt.length > 0) console.log(`── ${unbuiltNote(unbuilt)}`);
  const wanted = tiers.filter(({ name }) => names.length === 0 || names.includes(name));
  const able: Tier[] = [];
  // Asked of all before the first begins: nobody learns after an hour that the last cannot run.
  for (const tier of wanted) {
    const reason = await tier.unable();
    if (reason === undefined) able.push(tier);
    else
      console.log(
        `\nTIER ${tier.name.toUpperCase()} SKIPPED: THIS MACHINE CANNOT RUN ${tier.what.toUpperCase()}: ${reason}\n`,
      );
  }
  const unable = wanted.length - able.length;
  const ran: TierResult[] = [];
  let late: readonly string[] = [];
  const { signal } = ending;
  for (const tier of able) {
    if (signal.aborted) break;
    console.log(`\n── ${tier.name}: ${tier.what}`);
    const started = performance.now();
    const result =
      tier.minutes === undefined
        ? await runScenarios({ until, seed, leftOut: [...leftOut, ...unbuilt], lanes, signal, fromHere })
        : { ...(await run(tier, Math.min(tier.minutes * slowness(), minutesLeft(until)), signal)), late: [] };
    late = [...late, ...result.late];
    ran.push(result);
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    if (tier.name === 'unit' && said === undefined)
      process.env[slownessVariable] = String((performance.now() - started) / 1000 / unitSeconds);
    const { passed, failed, skipped } = counts(result.tests);
    console.log(`── ${tier.name}: ${passed} passed, ${failed} failed, ${skipped} skipped in ${seconds} s`);
  }
  const tests = ran.flatMap((result) => result.tests);
  for (const { file, name } of tests.filter(({ outcome }) => outcome === 'failed'))
    console.log(`FAILED: ${fromHere(file)}: ${name}`);
  const flaky = ran.flatMap((result) => result.flaky);
  for (const { file, name } of flaky) console.log(`FLAKY, passed when it was run again: ${fromHere(file)}: ${name}`);
  if (signal.aborted) console.log(`FAILED: ${(signal.reason as Error).message}`);
  const isProof = process.env.CI === 'true';
  const tooFlaky = isProof ? flakyFailures(flaky) : [];
  for (const reason of tooFlaky) console.log(`FAILED: ${reason}`);
  const total = counts(tests);
  const skipped = total.skipped + unable;
  const skipsFail = isProof && skipped > 0;
  if (skipsFail) console.log('Skipped tests count as failed in CI.');
  console.log(chosen);
  if (leftOut.length > 0) console.log(`${scope}. They are counted as skipped, and fail nothing.`);
  if (unbuilt.length > 0) console.log(`${unbuiltNote(unbuilt)}. They are counted as skipped, and fail nothing.`);
  const isWithoutScenarios = late.length > 0 && !tests.some(({ file }) => file.includes('/e2e/scenarios/'));
  if (isWithoutScenarios) console.log('FAILED: there was no time for any scenario.');
  const failed =
    total.failed +
    tooFlaky.length +
    (skipsFail ? skipped : 0) +
    (signal.aborted ? 1 : 0) +
    (isWithoutScenarios ? 1 : 0);
  const leftOutNow = withScenarios ? leftOut.length + unbuilt.length + late.length : 0;
  if (late.length > 0)
    console.log(`SCENARIOS LEFT OUT FOR TIME: ${late.join(', ')}. They are counted as skipped, and fail nothing.`);
  console.log(`${total.passed} passed, ${failed} failed, ${skipped + leftOutNow} skipped`);
  return failed > 0 || total.passed === 0 ? 1 : 0;
}

/**
 * Seconds that the unit tier takes on two good processors. How long it takes says how slow this machine is today: the scenarios, which
 * come last, wait that much longer.
 */
const unitSeconds = 310;

function minutesLeft(until: number | undefined): number {
  return until === undefined ? Infinity : Math.max((until - Date.now()) / 60_000, 1);
}

/** When the tests have to end, in milliseconds since 1970; undefined when they may take as long as they do. */
function givenUntil(): number | undefined {
  const text = process.env.STEWARD_UNTIL ?? '';
  if (text === '') return undefined;
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1000;
  throw new Error(`STEWARD_UNTIL is "${text}": give a time in seconds since 1970, such as $(date -d +78min +%s).`);
}

function minors(releases: readonly { readonly minor: string }[]): string {
  return releases.map(({ minor }) => minor).join(' and ');
}

function counts(tests: readonly TestResult[]): Record<TestResult['outcome'], number> {
  const of = (wanted: TestResult['outcome']): number => tests.filter(({ outcome }) => outcome === wanted).length;
  return { passed: of('passed'), failed: of('failed'), skipped: of('skipped') };
}

/** Whoever ends this process ends the tests that run, and no others begin; what they came to is still told. */
const ending = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(name, () => {
    ending.abort(new Error(`the tests were ended early by ${name}`));
  });

process.exitCode = await main(process.argv.slice(2));
