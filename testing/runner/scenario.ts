import { readFile, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { SharedKind } from '../../e2e/framework/shared/shared-names.ts';

/** A file of scenarios. */
export interface Scenario {
  readonly name: string;
  /** The management cluster that it shares with others; undefined when it starts its own. */
  readonly shares: SharedKind | undefined;
}

const folder = join(import.meta.dirname, '../../e2e/scenarios');
const ending = '.test.ts';

/** The functions that lend a management cluster. */
const lending: readonly (readonly [string, SharedKind])[] = [
  ['shareStewardCluster(', 'steward'],
  ['shareClusterApiStage(', 'capi'],
];

/** All scenarios below e2e/scenarios, in alphabetical order. Which cluster they share is read from what they call. */
export async function readScenarios(): Promise<readonly Scenario[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(ending)).toSorted();
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(folder, file), 'utf8');
      const shares = lending.filter(([call]) => text.includes(call)).map(([, kind]) => kind);
      if (shares.length > 1) throw new Error(`${file} shares two clusters: scenarios would wait for each other.`);
      return { name: scenarioName(file), shares: shares[0] };
    }),
  );
}

/** The file of a scenario. */
export function scenarioFile(name: string): string {
  return join(folder, `${name}${ending}`);
}

/** The scenario of a file. */
export function scenarioName(file: string): string {
  return basename(file, ending);
}
