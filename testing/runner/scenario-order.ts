import { seededNumber } from '../../e2e/framework/run-seed.ts';
import type { Scenario } from './scenario.ts';
import { beyondCore } from './test-scope.ts';
import { ownPrograms } from './unbuilt-scenarios.ts';

/**
 * The order of a run: those of the core before the others, those with programs of their own last, and each part in an order that the seed
 * chooses. Scenarios that share a cluster follow each other, so that it is up for no longer than they need it.
 */
export function scenarioOrder(scenarios: readonly Scenario[], seed: number): readonly Scenario[] {
  const place = (what: string): number => seededNumber(seed, `the turn of ${what}`, 0, 2 ** 31);
  const isBeyond = ({ name }: Scenario): number =>
    name in ownPrograms ? 2 : beyondCore.some((each) => each === name) ? 1 : 0;
  const group = ({ name, shares }: Scenario): string => (shares === undefined ? name : `those that share ${shares}`);
  // A group with one scenario of the core begins with the core.
  const beyond = new Map<string, number>();
  for (const scenario of scenarios)
    beyond.set(group(scenario), Math.min(beyond.get(group(scenario)) ?? 2, isBeyond(scenario)));
  return scenarios.toSorted(
    (a, b) =>
      (beyond.get(group(a)) ?? 0) - (beyond.get(group(b)) ?? 0) ||
      place(group(a)) - place(group(b)) ||
      isBeyond(a) - isBeyond(b) ||
      place(a.name) - place(b.name),
  );
}
