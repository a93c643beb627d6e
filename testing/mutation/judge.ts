import { join } from 'node:path';
import { hash } from './hash.ts';
import { runJest } from './jest-run.ts';
import { KeptValues } from './kept-values.ts';
import type { Mutant } from './mutant.ts';
import type { Sources } from './sources.ts';
import { projectOf } from './test-map.ts';
import type { TestMap, Tier } from './test-map.ts';
import { mutated } from './texts.ts';

/** What became of a mutant. */
export interface Verdict {
  readonly killed: boolean;
  /** The test that saw it, or why there is none. */
  readonly by: string;
}

/** What is kept of a mutant: the tests that passed with it, each by what it needs, and the one that did not. */
interface Kept {
  readonly passed: Readonly<Record<string, string>>;
  readonly killer?: { readonly test: string; readonly key: string; readonly by: string };
}

/** So many seconds of tests, as they take without a mutant, try to see one. */
const mostSeconds: Readonly<Record<Tier, number>> = { room: 120, wide: 60, contract: 180, elsewhere: 180 };

/** Runs the tests that reach a mutant, with the mutant in place, until one fails. */
export class Judge {
  readonly #sources: Sources;
  readonly #map: TestMap;
  readonly #tier: Tier;
  readonly #kept: KeptValues<Kept>;

  constructor(sources: Sources, map: TestMap, tier: Tier, folder: string) {
    this.#sources = sources;
    this.#map = map;
    this.#tier = tier;
    this.#kept = new KeptValues(join(folder, `verdicts-${tier}.json`));
  }

  async judge(mutant: Mutant): Promise<Verdict> {
    const source = this.#sources.text(mutant.file);
    const name = `${mutant.id}-${hash(source)}`;
    const kept = this.#kept.get(name) ?? { passed: {} };
    const { killer } = kept;
    const stands = killer?.key === (killer && this.#map.keyOf(killer.test));
    if (killer && stands) return { killed: true, by: killer.by };
    const { tests: all, tooSlow } = this.#map.testsOf(mutant, mostSeconds[this.#tier]);
    const passing = `${this.#tier}: ${all.length === 0 ? 'no test runs it' : `${all.length} files pass`}${tooSlow === 0 ? '' : `, ${tooSlow} more take too long`}`;
    const open = all.filter(({ test }) => kept.passed[test] !== this.#map.keyOf(test));
    if (open.length === 0) return { killed: false, by: passing };

    const tests = open.map(({ test }) => test);
    const seconds = open.reduce((sum, { seconds: those }) => sum + those, 0);
    const texts = { [mutant.file]: mutated(source, mutant) };
    const run = { project: projectOf(this.#tier), tests, texts, untilFailure: true } as const;
    const limitMs = (60 + 6 * seconds) * 1000;
    const first = await runJest({ ...run, limitMs });
    // The machine may have been busy: only what takes long twice does not end.
    const { outcome, failure } =
      first.outcome === 'took too long' ? await runJest({ ...run, limitMs: 3 * limitMs }) : first;
    if (outcome === 'passed') {
      const passed = { ...kept.passed, ...Object.fromEntries(tests.map((test) => [test, this.#map.keyOf(test)])) };
      this.#kept.set(name, { passed });
      return { killed: false, by: passing };
    }
    const by = failure ?? outcome;
    const test = tests.find((file) => by.startsWith(`${file}:`)) ?? tests[0] ?? '';
    this.#kept.set(name, { passed: kept.passed, killer: { test, key: this.#map.keyOf(test), by } });
    return { killed: true, by };
  }
}
