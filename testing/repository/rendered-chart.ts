import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../../api/meta.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';

const run = promisify(execFile);

/** The folder of a chart of this repository. */
export const chartFolder = (chart: string): string => join(import.meta.dirname, '../../charts', chart);

/** Runs the pinned helm and returns what it prints; throws with its complaint. */
export async function helm(...words: readonly string[]): Promise<string> {
  const { helm: program } = await resolveTools(['helm']);
  const { stdout } = await run(program, [...words], { maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

/** What `helm template` makes of a chart, as a release `steward` in `namespace`. */
export async function renderedChart(
  chart: string,
  values: object = {},
  namespace = 'steward-system',
): Promise<readonly Manifest[]> {
  const given = Object.entries(values).flatMap(([path, value]) => ['--set-json', `${path}=${JSON.stringify(value)}`]);
  const text = await helm('template', 'steward', chartFolder(chart), '--namespace', namespace, ...given);
  return parseAllDocuments(text, { version: '1.1' })
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}
