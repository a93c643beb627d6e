import { givenSeed, seededNumber } from '../../e2e/framework/run-seed.ts';

/** Variable of the environment: `all` has every crash loop die at every point, also in a run of all tests. */
const allVariable = 'STEWARD_CRASH_POINTS';

/** So many points of each loop are tried at least. */
const fewest = 8;

/** One of so many points is tried. */
const oneOf = 4;

/**
 * After which of these calls a manager dies in a test; a number means the calls from 1 to it. One in each part of the
 * whole, chosen by the seed of the run and the purpose, so that other runs try others. A test that is run by itself,
 * without a seed, tries all.
 */
export function crashPoints(
  calls: number | readonly number[],
  purpose: string,
  seed: number | null = process.env[allVariable] === 'all' ? null : (givenSeed() ?? null),
): readonly number[] {
  const all = typeof calls === 'number' ? Array.from({ length: calls }, (_, at) => at + 1) : calls;
  if (seed === null) return all;
  const parts = Math.min(all.length, Math.max(fewest, Math.ceil(all.length / oneOf)));
  const begin = (part: number): number => Math.floor((part * all.length) / parts);
  const chosen = Array.from({ length: parts }, (_, part) =>
    seededNumber(seed, `${purpose}, part ${part}`, begin(part), begin(part + 1)),
  );
  return chosen.flatMap((at) => all[at] ?? []);
}
