import { readableTitle } from '../../api/generate/readable-title.ts';
import type { NamedTest } from './named-tests.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** A table of Markdown: its heads, and rows of texts. */
export function proofTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows.map((row) => row.map(cell))]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');
}

/** Links to tests and files of the repository, each in a line of a cell, for a page in docs/reference. */
export function proofLinks(tests: readonly NamedTest[], files: readonly string[] = []): string {
  const named = [...tests, ...files.map((file) => ({ file, title: file }))];
  return named.map(({ file, title }) => `[${readableTitle(title)}](../../${file})`).join('<br>');
}
