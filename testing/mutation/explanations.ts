import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** One line for each mutant, by its id, that says why no test sees it. */
export type Explanations = Readonly<Record<string, string>>;

export const readExplanations = (): Explanations =>
  (parse(readFileSync(join(import.meta.dirname, 'survivors.yaml'), 'utf8')) as Explanations | null) ?? {};
