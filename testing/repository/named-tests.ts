import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readableTitle } from '../../api/generate/readable-title.ts';

const root = join(import.meta.dirname, '../..');

/** A test, by its file from the root of the repository and its title. */
export interface NamedTest {
  readonly file: string;
  readonly title: string;
}

/** Those that are not there: no such file, or no test in it with this title, in any quotes, as it is written or as a page shows it. */
export function absentTests(tests: readonly NamedTest[]): readonly NamedTest[] {
  return tests.filter(({ file, title }) => !hasTest(file, title));
}

function hasTest(file: string, title: string): boolean {
  const path = join(root, file);
  if (!existsSync(path)) return false;
  const text = readFileSync(path, 'utf8');
  return [text, readableTitle(text)].some((given) =>
    ["'", '"', '`'].some((quote) => given.includes(`${quote}${title}${quote},`)),
  );
}
