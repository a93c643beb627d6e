import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

import type { MinorResult } from './minor-result.ts';

/** Where the newest result of each minor is committed. */
export const minorResultsFile = path.join(import.meta.dirname, 'results.json');

/** `1.31` of `v1.31.4`. */
export function minorOf(version: string): string {
  return version.replace(/^v/, '').split('.').slice(0, 2).join('.');
}

/** The results with one more, which replaces that of its minor; newest minor first. */
export function withResult(results: readonly MinorResult[], result: MinorResult): readonly MinorResult[] {
  const number = ({ version }: MinorResult): number => Number(minorOf(version).split('.')[1]);
  const others = results.filter(({ version }) => minorOf(version) !== minorOf(result.version));
  return [...others, result].toSorted((a, b) => number(b) - number(a));
}

/** Reads the committed results. */
export async function readMinorResults(file: string = minorResultsFile): Promise<readonly MinorResult[]> {
  return JSON.parse(await readFile(file, 'utf8')) as readonly MinorResult[];
}

/** Adds one result to the committed ones. */
export async function recordMinor(result: MinorResult, file: string = minorResultsFile): Promise<void> {
  const results = withResult(await readMinorResults(file), result);
  await writeFile(`${file}.part`, `${JSON.stringify(results, undefined, 2)}\n`);
  await rename(`${file}.part`, file);
}
