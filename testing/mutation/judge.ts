import { join } from 'node:path';
import { hash } from './hash.ts';
import { runJest } from './jest-run.ts';
import { KeptValues } from './kept-values.ts';
import type { Killers } from './killers.ts';
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
  /** The file of that test. */
  readonly test?: string;
}

/** What is kept of a mutant: the tests that passed with it, each by what it needs, and the one that did not. */
interface Kept {
  readonly passed: Readonly<Record<string, string>>;
  readonly killer?: { readonly test: string; readonly key: string; readonly by: string };
}

/** So many seconds of tests, as they take without a mutant, try to see one. */
const mostSeconds: Readonly<Record<Tier, number>> = { room: 120, wide: 60, contract: 180, elsewhere: 180 };

/** A test that is tried on a guess may take so long; in milliseconds. */
const guessMs = 5 * 60_000;

/** Runs the tests that reach a mutant, with the mutant in place, until one fails. */
export class Judge {
  readonly #sources: Sources;
  readonly #map: TestMap;
  readonly #tier: Tier;
  readonly #kept: KeptValues<Kept>;
  readonly #killers: Killers;
  /** Whether a file of tests passes without a mutant. */
  readonly #passes = new Map<string, Promise<boolean>>();

  constructor(
    { sources, map, killers }: { readonly sources: Sources; readonly map: TestMap; readonly killers: Killers },
    tier: Tier,
    folder: string,
  ) {
    this.#sources = sources;
    this.#map = map;
    this.#killers = killers;
    this.#tier = tier;
    this.#kept = new KeptValues(join(folder, `verdicts-${tier}.json`));
  }

  /**
   * Tries the files of tests that are most likely to see a mutant, before it is known which ones reach it: the one that saw it
   * before something changed or in the last recorded run, and the one that is named after its file. Undefined if none sees it.
   */
  async guess(mutant: Mutant): Promise<Verdict | undefined> {
    const { verdict, kept } = this.#known(mutant);
    if (verdict !== undefined) return verdict;
    const recorded = [kept.killer?.test, this.#killers[mutant.id]].map((test) => this.#map.known(test));
    for (const test of new Set([...recorded, this.#map.namedAfter(mutant)])) {
      const seen = test === undefined ? undefined : await this.#tryOne(mutant, test);
      if (seen !== undefined) return seen;
    }
    return undefined;
  }

  async #tryOne(mutant: Mutant, test: string): Promise<Verdict | undefined> {
    const { name, source, kept } = this.#known(mutant);
    const key = this.#map.keyOf(test);
    if (kept.passed[test] === key) return undefined;
    const run = { project: projectOf(this.#tier), tests: [test], limitMs: guessMs } as const;
    const texts = { [mutant.file]: mutated(source, mutant) };
    const { outcome, failure } = await runJest({ ...run, texts, untilFailure: true });
    if (outcome === 'passed') this.#kept.set(name, { passed: { ...kept.passed, [test]: key } });
    // A jest that was killed or could not start names no test.
    if (outcome !== 'failed' || failure === undefined) return undefined;
    const passes = this.#passes.get(test) ?? runJest({ ...run, texts: {} }).then((end) => end.outcome === 'passed');
    this.#passes.set(test, passes);
    if (!(await passes)) return undefined;
    this.#kept.set(name, { passed: kept.passed, killer: { test, key, by: failure } });
    return { killed: true, by: failure, test };
  }

  async judge(mutant: Mutant): Promise<Verdict> {
    const { name, source, kept, verdict } = this.#known(mutant);
    if (verdict !== undefined) return verdict;
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
    // The machine may have been busy, or jest itself may have been killed: what names no failing test has to happen twice.
    const isSure = first.outcome === 'passed' || first.failure !== undefined;
    const { outcome, failure } = isSure ? first : await runJest({ ...run, limitMs: 3 * limitMs });
    if (outcome === 'passed') {
      const passed = { ...kept.passed, ...Object.fromEntries(tests.map((test) => [test, this.#map.keyOf(test)])) };
      this.#kept.set(name, { passed });
      return { killed: false, by: passing };
    }
    const by = failure ?? outcome;
    const test = tests.find((file) => by.startsWith(`${file}:`)) ?? tests[0] ?? '';
    this.#kept.set(name, { passed: kept.passed, killer: { test, key: this.#map.keyOf(test), by } });
    return { killed: true, by, test };
  }

  #known(mutant: Mutant): Known {
    const source = this.#sources.text(mutant.file);
    const name = `${mutant.id}-${hash(source)}`;
    const kept = this.#kept.get(name) ?? { passed: {} };
    const { killer } = kept;
    const stands = killer?.key === (killer && this.#map.keyOf(killer.test));
    return {
      name,
      source,
      kept,
      verdict: killer && stands ? { killed: true, by: killer.by, test: killer.test } : undefined,
    };
  }
}

/** What is known of a mutant before anything is run; a verdict only if nothing has changed that its test depends on. */
interface Known {
  readonly name: string;
  readonly source: string;
  readonly kept: Kept;
  readonly verdict: Verdict | undefined;
}
