import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { preflight } from '../e2e/harness/preflight.ts';

/** One tier of tests: a jest project, in the order of how soon it can fail. */
interface Tier {
  readonly name: 'unit' | 'contract' | 'api' | 'capi' | 'e2e';
  readonly what: string;
  readonly jest: readonly string[];
  /** Why this machine cannot run the tier; undefined when it can. */
  readonly unable: () => Promise<string | undefined>;
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** What is read of jest's report. */
interface JestReport {
  readonly numPassedTests?: number;
  readonly numFailedTests?: number;
  readonly numRuntimeErrorTestSuites?: number;
  readonly numPendingTests?: number;
  readonly numTodoTests?: number;
  readonly testResults?: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly duration?: number | null }[];
  }[];
}

const able = () => Promise.resolve(undefined);
const linuxOnly = () =>
  Promise.resolve(
    process.platform === 'linux' ? undefined : `real servers run on Linux only, this is ${process.platform}`,
  );

const tiers: readonly Tier[] = [
  { name: 'unit', what: 'pure functions and the fake cluster', jest: ['--maxWorkers=2'], unable: able },
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
  const problems = await preflight();
  return problems.length === 0 ? undefined : problems.join('; ');
}

/** Runs one jest project and counts its tests. A suite that could not even start counts as one failure. */
async function run(tier: Tier): Promise<Counts> {
  const folder = await mkdtemp(join(tmpdir(), 'tier-'));
  const report = join(folder, 'report.json');
  const jest = join(import.meta.dirname, '..', 'node_modules', 'jest', 'bin', 'jest.js');
  const args = ['--experimental-vm-modules', '--no-warnings', jest, '--selectProjects', tier.name];
  args.push('--json', `--outputFile=${report}`, '--testLocationInResults', ...tier.jest);
  const code = await new Promise<number>((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    child.once('error', reject);
    child.once('close', (status) => {
      resolve(status ?? 1);
    });
  });
  try {
    const result = JSON.parse(await readFile(report, 'utf8')) as JestReport;
    tellLongest(result);
    const failed = (result.numFailedTests ?? 0) + (result.numRuntimeErrorTestSuites ?? 0);
    return {
      passed: result.numPassedTests ?? 0,
      failed: code === 0 ? failed : Math.max(1, failed),
      skipped: (result.numPendingTests ?? 0) + (result.numTodoTests ?? 0),
    };
  } catch {
    // Without a report jest itself broke; its own output above says why.
    return { passed: 0, failed: 1, skipped: 0 };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Where a shorter test would help most. */
function tellLongest({ testResults = [] }: JestReport): void {
  const all = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, duration }) => ({ name, fullName, seconds: (duration ?? 0) / 1000 })),
  );
  for (const { name, fullName, seconds } of all.sort((a, b) => b.seconds - a.seconds).slice(0, 5))
    console.log(`   ${seconds.toFixed(0)} s: ${relative(process.cwd(), name)}: ${fullName}`);
}

async function main(names: readonly string[]): Promise<number> {
  const unknown = names.filter((name) => !tiers.some((tier) => tier.name === name));
  if (unknown.length > 0) {
    console.error(
      `There is no tier called ${unknown.join(', ')}; choose among ${tiers.map(({ name }) => name).join(', ')}.`,
    );
    return 2;
  }
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const tier of tiers.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const reason = await tier.unable();
    if (reason !== undefined) {
      console.log(
        `\nTIER ${tier.name.toUpperCase()} SKIPPED: THIS MACHINE CANNOT RUN ${tier.what.toUpperCase()}: ${reason}\n`,
      );
      total.skipped += 1;
      continue;
    }
    console.log(`\n── ${tier.name}: ${tier.what}`);
    const started = performance.now();
    const counts = await run(tier);
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped += counts.skipped;
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    console.log(
      `── ${tier.name}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped in ${seconds} s`,
    );
  }
  const skipsFail = process.env.CI === 'true' && total.skipped > 0;
  if (skipsFail) console.log('Skipped tests count as failed in CI.');
  console.log(
    `${total.passed} passed, ${total.failed + (skipsFail ? total.skipped : 0)} failed, ${total.skipped} skipped`,
  );
  return total.failed > 0 || skipsFail || total.passed === 0 ? 1 : 0;
}

process.exitCode = await main(process.argv.slice(2));
