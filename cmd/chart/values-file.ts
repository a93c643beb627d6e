import { stringify } from 'yaml';
import type { ChartValue, ChartValues } from './chart-value.ts';

/** `values.yaml`: every default below its description. */
export function valuesFile(values: ChartValues): string {
  return `# Made by \`npm run gen\`; do not edit. Put your own values into another file.\n${lines(values).join('\n')}\n`;
}

function lines(values: ChartValues): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) => [
    `# ${value.description}`,
    ...(value.properties === undefined
      ? scalarLines(name, value)
      : [`${name}:`, ...lines(value.properties).map((line) => `  ${line}`)]),
  ]);
}

const scalarLines = (name: string, value: ChartValue): readonly string[] =>
  stringify({ [name]: value.default }, { version: '1.1', lineWidth: 0 })
    .trimEnd()
    .split('\n');
