import { InvalidInputError } from './invalid-input-error.ts';
import type { InvalidInput } from './invalid-input-error.ts';

/** The inputs of the `InvalidInputError`s that the checks throw; any other error is a bug and is thrown again. */
export function collectErrors(...checks: readonly (() => unknown)[]): readonly InvalidInput[] {
  return checks.flatMap((check) => {
    try {
      check();
      return [];
    } catch (error) {
      if (error instanceof InvalidInputError) return [error.input];
      throw error;
    }
  });
}
