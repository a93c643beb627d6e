import { oneLine } from './one-line.ts';

/** A column of a table. `wide` columns are only shown with `-o wide`. */
export interface TableColumn<T> {
  readonly title: string;
  readonly wide?: boolean;
  readonly value: (row: T) => string;
  /** How the cell is colored, if colors are shown. */
  readonly tone?: (row: T) => Tone;
}

/** What a color says. */
export type Tone = 'good' | 'bad' | 'changing' | 'plain';

const codes: Readonly<Record<Tone, number | undefined>> = { good: 32, bad: 31, changing: 33, plain: undefined };

/** Text in the color of its tone (ECMA-48). */
export function colored(text: string, tone: Tone): string {
  const code = codes[tone];
  return code === undefined || text === '' ? text : `\u001b[${code}m${text}\u001b[0m`;
}

/** Rows below their titles, in columns three spaces apart, as kubectl prints them. Empty cells show as `<none>`. */
export function table<T>(
  rows: readonly T[],
  columns: readonly TableColumn<T>[],
  { wide, colors }: { readonly wide: boolean; readonly colors: boolean },
): string {
  const shown = columns.filter((column) => wide || column.wide !== true);
  const cells = rows.map((row) => shown.map(({ value }) => oneLine(value(row)) || '<none>'));
  const widths = shown.map(({ title }, at) => Math.max(title.length, ...cells.map((line) => line[at]?.length ?? 0)));
  const pad = (text: string, at: number): string =>
    at === shown.length - 1 ? '' : ' '.repeat((widths[at] ?? 0) - text.length + 3);
  const head = shown.map(({ title }, at) => `${title}${pad(title, at)}`).join('');
  const lines = rows.map((row, index) =>
    shown
      .map(({ tone }, at) => {
        const text = cells[index]?.[at] ?? '';
        return `${colors && tone !== undefined ? colored(text, tone(row)) : text}${pad(text, at)}`;
      })
      .join(''),
  );
  return [head, ...lines].map((line) => `${line}\n`).join('');
}
