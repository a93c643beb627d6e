import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { preflight } from '../e2e/harness/preflight.ts';
import { testScope, testScopeVariable } from './test-scope.ts';
import { failedFiles, testResults, withSecondRun } from './tier-result.ts';
import type { JestReport, TestResult, TierResult } from './tier-result.ts';

/** One tier of tests: a jest project, in the order of how soon it can fail. */
interface Tier {
  readonly name: 'unit' | 'contract' | 'api' | 'capi' | 'e2e';
  readonly what: string;
  readonly jest: readonly string[];
  /** Why this machine cannot run the tier; undefined when it can. */
  readonly unable: () => Promise<string | undefined>;
}

const anywhere = () => Promise.resolve(undefined);
const linuxOnly = () =>
  Promise.resolve(
    process.platform === 'linux' ? undefined : `real servers run on Linux only, this is ${process.platform}`,
  );

const tiers: readonly Tier[] = [
  { name: 'unit', what: 'pure functions and the fake cluster', jest: ['--maxWorkers=2'], unable: anywhere },
  { name: 'contract', what: 'real datastores and the real kubeadm', jest: ['--maxWorkers=2'], unable: linuxOnly },
  { name: 'api', what: 'a real API server and etcd', jest: ['--maxWorkers=2'], unable: linuxOnly },
  {
    name: 'capi',
    what: 'the contract with Cluster API, by its real managers',
    jest: ['--maxWorkers=2'],
    unable: linuxOnly,
  },
  { name: 'e2e', what: 'real clusters', jest: ['--maxWorkers=2'], unable: whyNoClusters },
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
async function run(tier: Tier): Promise<TierResult> {
  const first = await jest(tier, tier.jest);
  const again = failedFiles(first);
  if (again.length === 0 || again.length > mostFilesAgain || again.includes(jestItself))
    return { tests: first, flaky: [] };
  console.log(`── ${tier.name}: once more, alone: ${again.map(fromHere).join(', ')}`);
  return withSecondRun(first, await jest(tier, ['--runInBand', '--runTestsByPath', ...again]));
}

/** More than these at once do not fail by chance. */
const mostFilesAgain = 3;

const jestItself = 'jest';

async function jest(tier: Tier, options: readonly string[]): Promise<readonly TestResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tier-'));
  const report = join(folder, 'report.json');
  const program = join(import.meta.dirname, '..', 'node_modules', 'jest', 'bin', 'jest.js');
  const args = ['--experimental-vm-modules', '--no-warnings', program, '--selectProjects', tier.name];
  args.push('--json', `--outputFile=${report}`, '--testLocationInResults', ...options);
  const code = await new Promise<number>((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    child.once('error', reject);
    child.once('close', (status) => {
      resolve(status ?? 1);
    });
  });
  const broken = (name: string): TestResult => ({ file: jestItself, name, outcome: 'failed', seconds: 0 });
  try {
    const results = testResults(JSON.parse(await readFile(report, 'utf8')) as JestReport);
    tellLongest(results);
    return code === 0 || failedFiles(results).length > 0
      ? results
      : [...results, broken(`ended with ${code}, though no test failed`)];
  } catch {
    // Its own output above says why.
    return [broken('left no report')];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Where a shorter test would help most. */
function tellLongest(results: readonly TestResult[]): void {
  for (const { name, file, seconds } of results.toSorted((a, b) => b.seconds - a.seconds).slice(0, 5))
    console.log(`   ${seconds.toFixed(0)} s: ${fromHere(file)}: ${name}`);
}

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
  const { leftOut, releases } = testScope();
  const scope = `THE CORE OF THE TESTS, of Kubernetes ${releases.map(({ minor }) => minor).join(' and ')}, without the scenarios ${leftOut.join(', ')}: ${testScopeVariable}=whole runs all`;
  if (leftOut.length > 0) console.log(`── ${scope}`);
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
  for (const tier of able) {
    console.log(`\n── ${tier.name}: ${tier.what}`);
    const started = performance.now();
    const result = await run(tier);
    ran.push(result);
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    const { passed, failed, skipped } = counts(result.tests);
    console.log(`── ${tier.name}: ${passed} passed, ${failed} failed, ${skipped} skipped in ${seconds} s`);
  }
  const tests = ran.flatMap((result) => result.tests);
  for (const { file, name } of tests.filter(({ outcome }) => outcome === 'failed'))
    console.log(`FAILED: ${fromHere(file)}: ${name}`);
  for (const { file, name } of ran.flatMap(({ flaky }) => flaky))
    console.log(`FLAKY, passed when it was run again: ${fromHere(file)}: ${name}`);
  const total = counts(tests);
  const skipped = total.skipped + unable;
  const skipsFail = process.env.CI === 'true' && skipped > 0;
  if (skipsFail) console.log('Skipped tests count as failed in CI.');
  if (leftOut.length > 0) console.log(scope);
  console.log(`${total.passed} passed, ${total.failed + (skipsFail ? skipped : 0)} failed, ${skipped} skipped`);
  return total.failed > 0 || skipsFail || total.passed === 0 ? 1 : 0;
}

function counts(tests: readonly TestResult[]): Record<TestResult['outcome'], number> {
  const of = (wanted: TestResult['outcome']): number => tests.filter(({ outcome }) => outcome === wanted).length;
  return { passed: of('passed'), failed: of('failed'), skipped: of('skipped') };
}

process.exitCode = await main(process.argv.slice(2));
