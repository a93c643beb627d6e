/** Who opens connections. */
export interface Source {
  readonly name: string;
  /** Those of the addresses to which a connection can be opened from there. */
  readonly dial: (targets: readonly string[]) => Promise<ReadonlySet<string>>;
}

/** What listens, and where. */
export interface Target {
  readonly name: string;
  /** Address and port, as `10.0.0.1:443`. */
  readonly at: string;
}

/** Cells row by row; the first row has the names of the columns. */
export type Table = readonly (readonly string[])[];

/** Tries every connection: a row for each target, a column for each source, and `open` or `–` in each cell. */
export async function reachTable(sources: readonly Source[], targets: readonly Target[]): Promise<Table> {
  const reached = await Promise.all(sources.map(({ dial }) => dial(targets.map(({ at }) => at))));
  return [
    ['To \\ from', ...sources.map(({ name }) => name)],
    ...targets.map(({ name, at }) => [name, ...reached.map((open) => (open.has(at) ? 'open' : '–'))]),
  ];
}

/** The same table with every cell open. */
export function allOpen([head = [], ...rows]: Table): Table {
  return [head, ...rows.map(([name = '', ...cells]) => [name, ...cells.map(() => 'open')])];
}

/** The table as Markdown, in columns of equal width. */
export function printTable([head = [], ...rows]: Table): string {
  const all = [head, head.map(() => '---'), ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return all.map(line).join('\n');
}

/** The table below a heading of a page. @throws Error when there is none. */
export function tableBelow(heading: string, page: string): Table {
  const [, text] = page.split(`${heading}\n`);
  const [head, , ...rows] = (text ?? '').match(/(?<=^|\n)\|[^\n]*\|(?=\n)/g) ?? [];
  if (head === undefined || rows.length === 0) throw new Error(`The page has no table below "${heading}".`);
  const cells = (line: string): readonly string[] =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim());
  return [head, ...rows].map(cells);
}
