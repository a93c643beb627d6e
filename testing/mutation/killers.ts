import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { Judged } from './report.ts';

const path = join(import.meta.dirname, 'killers.yaml');

/** The file of tests that killed a mutant in the last whole run, by the mutant's id. It is tried first. */
export type Killers = Readonly<Record<string, string>>;

export const readKillers = (): Killers => (parse(readFileSync(path, 'utf8')) as Killers | null) ?? {};

/** The killers of a whole run, as they are recorded. */
export function killersOf(judged: readonly Judged[]): Killers {
  const known = judged.flatMap(({ mutant, verdict }) =>
    verdict.killed && verdict.test !== undefined ? [[mutant.id, verdict.test] as const] : [],
  );
  return Object.fromEntries(known.toSorted(([a], [b]) => a.localeCompare(b)));
}

export function writeKillers(judged: readonly Judged[]): void {
  const head = '# Written by npm run mutate: the file of tests that killed each mutant last. It is tried first.\n';
  writeFileSync(path, head + stringify(killersOf(judged)));
}
