import { InvalidInputError } from './invalid-input-error.ts';
import type { InvalidInput } from './invalid-input-error.ts';

/** The complaints of checks that throw `InvalidInputError`; any other error is a mistake of ours and is thrown on. */
export function collectComplaints(...checks: readonly (() => unknown)[]): readonly InvalidInput[] {
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
