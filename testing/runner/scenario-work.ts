import { builtManagerVariable } from '../../e2e/framework/install-steward.ts';
import { removeShared } from '../../e2e/framework/shared/remove-shared.ts';
import { sharedOwnerVariable } from '../../e2e/framework/shared/shared-names.ts';
import type { SharedKind } from '../../e2e/framework/shared/shared-names.ts';
import { managerArchive } from '../servers/e2e-global-setup.ts';
import { runGroup } from './process-group.ts';
import { runJest } from './run-jest.ts';
import type { JestOutcome } from './run-jest.ts';
import { readScenarios, scenarioFile } from './scenario.ts';
import type { Scenario } from './scenario.ts';

/** What a run of scenarios does outside its own process. */
export interface ScenarioWork {
  /** Builds what scenarios need. Ends at once, with an error, when the signal is aborted. */
  prepare(signal: AbortSignal): Promise<void>;
  scenarios(): Promise<readonly Scenario[]>;
  /** Runs one for at most so many minutes. */
  run(name: string, minutes: number): Promise<JestOutcome>;
  /** Removes shared clusters of this kind, or of all kinds, and says what is left of them. */
  removeShared(kind?: SharedKind): Promise<readonly string[]>;
  /** Milliseconds since 1970. */
  now(): number;
  print(line: string): void;
}

const prepareProgram = new URL('prepare-scenarios.ts', import.meta.url).pathname;

/** The work on this host. Shared clusters belong to this process. */
export function scenarioWork(fromHere: (file: string) => string): ScenarioWork {
  process.env[sharedOwnerVariable] = String(process.pid);
  return {
    prepare: async (signal) => {
      const code = await runGroup({
        program: process.execPath,
        programArguments: [prepareProgram],
        environment: process.env,
        onMessage: () => undefined,
        signal,
        graceMs: 10_000,
      });
      signal.throwIfAborted();
      if (code !== 0) throw new Error(`see above; it ended with ${code}`);
      process.env[builtManagerVariable] = managerArchive;
    },
    scenarios: readScenarios,
    run: (name, minutes) =>
      runJest({
        tier: 'e2e',
        options: ['--runInBand', '--runTestsByPath', scenarioFile(name)],
        minutes,
        fromHere,
      }),
    removeShared: (kind) => removeShared(process.pid, kind),
    now: () => Date.now(),
    print: (line) => {
      console.log(line);
    },
  };
}
