import type { ChartValue, ChartValues } from './chart-value.ts';

/** The table of a chart's values in Markdown: name, default, meaning. */
export function valuesTable(values: ChartValues): string {
  return ['| Value | Default | Meaning |', '| --- | --- | --- |', ...rows('', values)].join('\n');
}

function rows(prefix: string, values: ChartValues): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const path = `${prefix}${name}`;
    if (value.properties === undefined) return [`| \`${path}\` | ${shown(value)} | ${cell(value.description)} |`];
    return [`| \`${path}\` | | ${cell(value.description)} |`, ...rows(`${path}.`, value.properties)];
  });
}

const shown = ({ default: byDefault }: ChartValue): string =>
  byDefault === '' ? 'empty' : `\`${cell(JSON.stringify(byDefault))}\``;

const cell = (words: string): string => words.replaceAll('|', '\\|');
