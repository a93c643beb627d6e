import type library from 'jest-environment-node';
import { createRequire } from 'node:module';
import { slowness } from '../../e2e/cluster/slowness.ts';
import { TimeLimits } from './time-limits.ts';
import type { Limited } from './time-limits.ts';

// Its types are those of a CommonJS module only.
const { TestEnvironment } = createRequire(import.meta.url)('jest-environment-node') as typeof library;

/** What jest tells of a test or a hook that begins, among other events. */
interface StartEvent {
  readonly name: string;
  readonly test?: Limited;
  readonly hook?: Limited;
}

/** What jest knows of a file of tests. */
interface FileState {
  /** The limit of tests without one of their own, which the file itself may have set. */
  testTimeout: number;
}

/** Gives tests and hooks more time on a slow machine, whoever set their limit; see `slowness`. */
// eslint-disable-next-line no-restricted-syntax -- jest takes the default export
export default class PatientEnvironment extends TestEnvironment {
  readonly #limits = new TimeLimits(slowness());

  handleTestEvent({ name, test, hook }: StartEvent, state: FileState): void {
    // jest has just read what the file or the configuration says.
    if (name === 'run_start') state.testTimeout *= slowness();
    if (name === 'test_start' && test !== undefined) this.#limits.extend(test);
    if (name === 'hook_start' && hook !== undefined) this.#limits.extend(hook);
  }
}
