import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { root, workFolder } from './places.ts';

export interface JestRun {
  readonly project: 'unit' | 'contract';
  /** From the root, in the order in which they run. */
  readonly tests: readonly string[];
  /** Texts that take the place of files', by the files' paths from the root. */
  readonly texts: Readonly<Record<string, string>>;
  readonly limitMs: number;
  /** Ends with the first test that fails. */
  readonly untilFailure?: boolean;
  /** Where probes note what they saw, and where jest writes its report. */
  readonly hits?: string;
  readonly report?: string;
}

export interface JestEnd {
  readonly outcome: 'passed' | 'failed' | 'took too long';
  /** The test that failed first. */
  readonly failure: string | undefined;
}

/** Runs some files of tests in a jest of their own, as slow as others on the machine like. */
export async function runJest({
  project,
  tests,
  texts,
  limitMs,
  untilFailure = false,
  hits,
  report,
}: JestRun): Promise<JestEnd> {
  const folder = await mkdtemp(join(await workFolder(), 'run-'));
  try {
    const verdict = join(folder, 'verdict');
    const places = Object.entries(texts).map(([file, text], index) => ({
      file,
      text,
      path: join(folder, `${index}.ts`),
    }));
    await Promise.all(places.map(({ path, text }) => writeFile(path, text)));
    const args = ['--experimental-vm-modules', '--no-warnings', join(root, 'node_modules/jest/bin/jest.js')];
    const how = ['--config', 'testing/mutation/jest.config.mjs', '--selectProjects', project, '--runInBand'];
    const written = report === undefined ? [] : ['--json', `--outputFile=${report}`];
    const jest = spawn(process.execPath, [...args, ...how, ...written, '--runTestsByPath', ...tests], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'ignore'],
      detached: true,
      env: {
        ...process.env,
        // Properties try the same values each time, and managers die at the same points.
        CI: 'true',
        STEWARD_SEED: '1',
        // jest itself is compiled once, not for each mutant.
        NODE_COMPILE_CACHE: join(await workFolder(), 'compiled'),
        STEWARD_MUTATION_TEXTS: JSON.stringify(Object.fromEntries(places.map(({ file, path }) => [file, path]))),
        STEWARD_MUTATION_ORDER: tests.map((test) => join(root, test)).join('\n'),
        ...(untilFailure ? { STEWARD_MUTATION_VERDICT: verdict } : {}),
        ...(hits === undefined ? {} : { STEWARD_MUTATION_HITS: hits }),
      },
    });
    const { promise: exit, resolve } = Promise.withResolvers<number | null>();
    jest.once('close', resolve);
    const limitPassed = new AbortController();
    const end = (): void => {
      // Its whole group: tests start processes too.
      if (jest.pid !== undefined && jest.exitCode === null) process.kill(-jest.pid, constants.signals.SIGKILL);
    };
    const limit = setTimeout(() => {
      limitPassed.abort();
      end();
    }, limitMs);
    process.once('exit', end);
    const status = await exit;
    clearTimeout(limit);
    process.off('exit', end);
    const failure = await readFile(verdict, 'utf8').catch(() => undefined);
    return {
      outcome: limitPassed.signal.aborted ? 'took too long' : status === 0 ? 'passed' : 'failed',
      failure: failure?.trim().replace(`${root}/`, '').replace('\t', ': '),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
