import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** A numbered line of a checklist, with the lines below it. */
export interface ChecklistItem {
  readonly line: string;
  /** Tests that hold it: paths from the root of the repository, and titles. */
  readonly tests: readonly { readonly file: string; readonly title: string }[];
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

/** Whether a file has a test with this title, in any quotes. */
export function hasTest(file: string, title: string): boolean {
  const path = join(root, file);
  if (!existsSync(path)) return false;
  const text = readFileSync(path, 'utf8');
  return ["'", '"', '`'].some((quote) => text.includes(`${quote}${title}${quote},`));
}
