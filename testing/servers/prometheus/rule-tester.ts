import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { stringify } from 'yaml';

import { debianProgram } from '../../../e2e/tools/debian-program.ts';
import { toolEnvironment } from '../../../e2e/tools/tool-environment.ts';

const run = promisify(execFile);

/** Series by name and labels, each with a value for all the time, or values as promtool reads them, such as `0+60x240`. */
export type Series = Readonly<Record<string, string | number>>;

/** Evaluates rules of Prometheus against series, with Prometheus' own promtool. */
export class RuleTester implements AsyncDisposable {
  readonly #promtool: string;
  readonly #folder: string;
  readonly #minutes: number;

  constructor(promtool: string, folder: string, minutes: number) {
    this.#promtool = promtool;
    this.#folder = folder;
    this.#minutes = minutes;
  }

  /** @param minutes of each trial: time begins at 0, a value a minute, and questions are asked at the end. */
  static async of(rules: object, minutes: number): Promise<RuleTester> {
    const program = { name: 'prometheus', program: 'usr/bin/promtool' };
    const promtool = await debianProgram(program, toolEnvironment().cacheFolder);
    const folder = await mkdtemp(path.join(tmpdir(), 'rules-'));
    await writeFile(path.join(folder, 'rules.yaml'), stringify(rules));
    return new RuleTester(promtool, folder, minutes);
  }

  /** What promtool says of the rules themselves. */
  async check(): Promise<string> {
    return (await run(this.#promtool, ['check', 'rules', path.join(this.#folder, 'rules.yaml')])).stdout;
  }

  /** Rejects with promtool's words unless the expression gives exactly these values, by labels. */
  async expect(series: Series, expr: string, values: Readonly<Record<string, number>>): Promise<void> {
    const file = path.join(this.#folder, 'test.yaml');
    const trial = {
      interval: '1m',
      input_series: Object.entries(series).map(([name, value]) => ({
        series: name,
        values: typeof value === 'number' ? `${value}x${this.#minutes}` : value,
      })),
      promql_expr_test: [
        {
          ...{ expr, eval_time: `${this.#minutes}m` },
          exp_samples: Object.entries(values).map(([labels, value]) => ({ labels, value })),
        },
      ],
    };
    await writeFile(file, stringify({ rule_files: ['rules.yaml'], evaluation_interval: '1m', tests: [trial] }));
    await run(this.#promtool, ['test', 'rules', file], { cwd: this.#folder });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
