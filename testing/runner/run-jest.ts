import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runGroup } from './process-group.ts';
import { TierProgress } from './tier-progress.ts';
import type { ProgressMessage } from './tier-progress.ts';
import { failedFiles, testResults } from './tier-result.ts';
import type { JestReport, TestResult } from './tier-result.ts';

/** One run of jest. */
export interface JestRun {
  readonly tier: string;
  readonly options: readonly string[];
  /** How long its tests may take together, from the first on; then it is ended and has failed. */
  readonly minutes: number;
  /** A file's path as it is told. */
  readonly fromHere: (file: string) => string;
}

/** The name of what has failed when it is jest and no file of tests. */
export const jestItself = 'jest';

/** What is built before the first test, on a machine whose cache is empty. */
const setupMinutes = 75;

/** Scenarios remove their machines when they are told to end. */
const graceMs = 60_000;

const root = join(import.meta.dirname, '../..');

/** What came of it. */
export interface JestOutcome {
  readonly tests: readonly TestResult[];
  /** Seconds that each file took, by its path. */
  readonly files: ReadonlyMap<string, number>;
}

/** Runs one project of jest. One that hangs is ended: what it had finished counts, and the hanging is a failure that names its files. */
export async function runJest(run: JestRun): Promise<JestOutcome> {
  const progress = new TierProgress();
  const tests = await follow(run, progress);
  return { tests, files: progress.seconds };
}

async function follow(
  { tier, options, minutes, fromHere }: JestRun,
  progress: TierProgress,
): Promise<readonly TestResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tier-'));
  const report = join(folder, 'report.json');
  const program = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
  const reporters = ['--reporters=default', `--reporters=${join(import.meta.dirname, 'progress-reporter.ts')}`];
  const args = ['--experimental-vm-modules', '--no-warnings', program, '--selectProjects', tier, ...reporters];
  args.push('--json', `--outputFile=${report}`, '--testLocationInResults', ...options);
  const deadline = new Deadline();
  deadline.set(setupMinutes);
  let code: number | undefined;
  try {
    code = await runGroup({
      program: process.execPath,
      programArguments: args,
      environment: process.env,
      onMessage: (message) => {
        progress.hear(message as ProgressMessage);
        if ((message as ProgressMessage).is === 'began') deadline.set(minutes);
      },
      signal: deadline.signal,
      graceMs,
    });
    if (deadline.signal.aborted) {
      const words = `was ended after ${deadline.minutes.toFixed(0)} minutes: ${progress.unfinished(fromHere)}`;
      return [...testResults(progress.report), broken(words)];
    }
    const results = testResults(JSON.parse(await readFile(report, 'utf8')) as JestReport);
    if (code === 0 || failedFiles(results).length > 0) return results;
    return [...results, broken(`ended with ${code}, though no test failed`)];
  } catch (error) {
    // Its own output above says why.
    const words = `ended with ${code ?? 'no exit code'} and left no report (${(error as Error).message}): ${progress.unfinished(fromHere)}`;
    return [...testResults(progress.report), broken(words)];
  } finally {
    deadline.clear();
    await rm(folder, { recursive: true, force: true });
  }
}

function broken(name: string): TestResult {
  return { file: jestItself, name, outcome: 'failed', seconds: 0 };
}

/** A time limit that starts again when what it is for begins. */
class Deadline {
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  minutes = 0;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  set(minutes: number): void {
    this.clear();
    this.minutes = minutes;
    this.#timer = setTimeout(() => {
      this.#controller.abort();
    }, minutes * 60_000);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}
