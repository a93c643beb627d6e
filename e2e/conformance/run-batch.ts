import { spawn } from 'node:child_process';
import { mkdir, open, readFile } from 'node:fs/promises';
import path from 'node:path';

import type { ConformanceTest } from './conformance-tests.ts';
import type { ConformanceStage } from './conformance-stage.ts';
import { readTestReport, suiteFailures } from './test-report.ts';
import type { TestResult } from './test-report.ts';

/** What a batch is run with. */
export interface BatchOptions {
  readonly e2eTest: string;
  readonly stage: Pick<ConformanceStage, 'kubeconfig' | 'kubectl'>;
  /** Folder for its log, JUnit file and JSON report. */
  readonly folder: string;
  /** After which ginkgo cuts off what still runs. */
  readonly limitMs: number;
  /** Cuts it off at once. */
  readonly signal: AbortSignal;
}

const literally = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);

/** Arguments of e2e.test that run exactly these tests, one after another. */
export function batchArguments(
  tests: readonly ConformanceTest[],
  { stage, folder, limitMs }: Pick<BatchOptions, 'stage' | 'folder' | 'limitMs'>,
): readonly string[] {
  return [
    `--kubeconfig=${stage.kubeconfig}`,
    `--kubectl-path=${stage.kubectl}`,
    // A cluster of no cloud.
    '--provider=skeleton',
    '--allowed-not-ready-nodes=0',
    '--disable-log-dump',
    `--report-dir=${folder}`,
    '--ginkgo.no-color',
    `--ginkgo.timeout=${Math.max(1, Math.round(limitMs / 1000))}s`,
    `--ginkgo.json-report=${path.join(folder, 'report.json')}`,
    `--ginkgo.focus=${tests.map(({ name }) => literally(name)).join('|')}`,
  ];
}

/**
 * Runs e2e.test for these tests; resolves with what it reports, also when tests failed.
 * @throws Error when it made no report, or its own set-up failed.
 */
export async function runBatch(
  tests: readonly ConformanceTest[],
  options: BatchOptions,
): Promise<readonly TestResult[]> {
  const { e2eTest, folder, signal } = options;
  await mkdir(folder, { recursive: true });
  const log = path.join(folder, 'e2e.log');
  await using output = await open(log, 'w');
  const child = spawn(e2eTest, batchArguments(tests, options), {
    cwd: folder,
    stdio: ['ignore', output.fd, output.fd],
  });
  // Told to stop, ginkgo lets tests clean up and still writes its report.
  const stop = (): void => void child.kill('SIGINT');
  signal.addEventListener('abort', stop);
  try {
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', () => {
        resolve();
      });
    });
  } finally {
    signal.removeEventListener('abort', stop);
  }
  return await resultsOf(path.join(folder, 'report.json'), log);
}

async function resultsOf(report: string, log: string): Promise<readonly TestResult[]> {
  const text = await readFile(report, 'utf8').catch((error: unknown) => {
    throw new Error(`e2e.test made no report; its output is in ${log}`, { cause: error });
  });
  const results = readTestReport(text);
  const [failure] = suiteFailures(text);
  if (results.length === 0 && failure !== undefined)
    throw new Error(`e2e.test could not start: ${failure}; see ${log}`);
  return results;
}
