import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { measuredCommit } from '../../e2e/framework/measured-commit.ts';
import type { MachineDescription } from './machine-description.ts';

/** Where results are committed: `<bench>.json`, one for each benchmark. The pages' figures are written from these files. */
const resultsFolder = path.join(import.meta.dirname, '../results');

/** What one run of a benchmark measured, and all that its figures can only be read with. */
export interface BenchResult<Row> {
  /** Name of the benchmark and of its file. */
  readonly bench: string;
  /** The commit that was measured; ends in `-dirty` when files differed from it. */
  readonly commit: string;
  /** When the run ended, in ISO 8601. */
  readonly date: string;
  /** What to type for another run of it; empty when nothing in this repository measures it. */
  readonly command: string;
  /** What a reader must know besides, for example that raw samples were not kept. */
  readonly note?: string;
  /** The machine; of an old result only what was noted at its time. */
  readonly machine: Partial<MachineDescription>;
  /** What was measured, raw samples included. */
  readonly rows: readonly Row[];
}

/** Where the result of a benchmark is committed. */
export function resultPath(bench: string, folder: string = resultsFolder): string {
  return path.join(folder, `${bench}.json`);
}

/** Writes the result of a run that has just ended on this machine, and returns the file's path. */
export async function writeResult<Row>(
  { note, ...measured }: Pick<BenchResult<Row>, 'bench' | 'command' | 'note' | 'machine' | 'rows'>,
  folder: string = resultsFolder,
): Promise<string> {
  const result: BenchResult<Row> = {
    ...{
      bench: measured.bench,
      commit: await measuredCommit(),
      date: new Date().toISOString(),
      command: measured.command,
    },
    note,
    ...{ machine: measured.machine, rows: measured.rows },
  };
  const file = resultPath(measured.bench, folder);
  await mkdir(folder, { recursive: true });
  await writeFile(file, `${JSON.stringify(result, undefined, 2)}\n`);
  return file;
}

/**
 * Reads a committed result. Its rows are as its benchmark wrote them.
 * @throws Error that names the file when it is absent or says something else.
 */
export async function readResult<Row>(bench: string, folder: string = resultsFolder): Promise<BenchResult<Row>> {
  const file = resultPath(bench, folder);
  const result = JSON.parse(await readFile(file, 'utf8')) as Partial<BenchResult<Row>>;
  for (const field of ['bench', 'commit', 'date', 'command', 'machine', 'rows'] as const)
    if (result[field] === undefined) throw new Error(`${file} has no ${field}: run the benchmark ${bench} again.`);
  return result as BenchResult<Row>;
}
