import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NamedTest } from './named-tests.ts';

const root = join(import.meta.dirname, '../..');

/** A numbered line of a checklist, with the lines below it. */
export interface ChecklistItem {
  readonly line: string;
  /** Tests that hold it: paths from the root of the repository, and titles. */
  readonly tests: readonly NamedTest[];
  /** What is not held yet. */
  readonly missing: readonly string[];
}

/** The numbered lines of a page of `docs/reference`, in its order. */
export function readChecklist(name: string): readonly ChecklistItem[] {
  const page = readFileSync(join(root, 'docs', 'reference', name), 'utf8');
  return page
    .split(/^(?=\d+\. )/m)
    .slice(1)
    .map((text) => {
      const [line = '', ...below] = text.trim().split('\n');
      const found = below.map((each) => /^ +- `([^`]+)`: (.+)$/.exec(each)).filter((match) => match !== null);
      return {
        line,
        tests: found.map(([, file = '', title = '']) => ({ file, title })),
        missing: below.filter((each) => /^ +- not yet: ./.test(each)),
      };
    });
}
