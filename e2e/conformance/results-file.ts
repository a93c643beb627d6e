import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { isMissing } from '../cluster/machines/is-missing.ts';
import type { TestResult } from './test-report.ts';

/** The newest result of each test, kept between runs. */
export class ResultsFile {
  readonly path: string;
  readonly #results: Map<string, TestResult>;

  private constructor(file: string, results: readonly TestResult[]) {
    this.path = file;
    this.#results = new Map(results.map((result) => [result.name, result]));
  }

  /** Opens it; a file that is not there has no results. */
  static async open(file: string): Promise<ResultsFile> {
    const text = await readFile(file, 'utf8').catch((error: unknown) => {
      if (isMissing(error)) return '[]';
      throw error;
    });
    return new ResultsFile(file, JSON.parse(text) as readonly TestResult[]);
  }

  get all(): readonly TestResult[] {
    return [...this.#results.values()];
  }

  /** Adds results and writes the file. One that was cut off does not replace one that came to its end. */
  async add(results: readonly TestResult[]): Promise<void> {
    for (const result of results) {
      if (result.outcome === 'interrupted' && this.#results.has(result.name)) continue;
      this.#results.set(result.name, result);
    }
    await mkdir(path.dirname(this.path), { recursive: true });
    const temporary = `${this.path}.part`;
    await writeFile(temporary, `${JSON.stringify(this.all, undefined, 1)}\n`);
    await rename(temporary, this.path);
  }
}
