import type { ChartValue } from './chart-values.ts';

const marked = /(<!-- values: begin[^>]*-->\n)[^]*?(<!-- values: end -->)/;

/** A page of Markdown with the table of a chart's values between its markers. */
export function withValuesTable(page: string, values: readonly ChartValue[]): string {
  if (!marked.test(page)) throw new Error('the page has no markers <!-- values: begin --> and <!-- values: end -->');
  const table = ['| Value | Default | Meaning |', '| --- | --- | --- |', ...rows('', values)].join('\n');
  return page.replace(marked, (_, begin: string, end: string) => `${begin}\n${table}\n\n${end}`);
}

const rows = (prefix: string, values: readonly ChartValue[]): readonly string[] =>
  values.flatMap((value) => {
    const path = `${prefix}${value.name}`;
    const row = (shown: string): string => `| \`${path}\` |${shown} | ${cell(value.description)} |`;
    if (value.values !== undefined) return [row(''), ...rows(`${path}.`, value.values)];
    return [row(value.default === '' ? ' empty' : ` \`${cell(JSON.stringify(value.default))}\``)];
  });

const cell = (words: string): string => words.replaceAll('|', '\\|');
