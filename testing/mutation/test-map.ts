import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hash } from './hash.ts';
import { runJest } from './jest-run.ts';
import { KeptValues } from './kept-values.ts';
import type { Mutant } from './mutant.ts';
import { root, workFolder } from './places.ts';
import { roomOf } from './sample.ts';
import { sideBySide } from '../side-by-side.ts';
import type { Sources } from './sources.ts';
import { probed } from './texts.ts';

/** The unit tests of a mutant's own room, then all others, then what needs real servers: first beside it, then elsewhere. */
export type Tier = 'room' | 'wide' | 'contract' | 'elsewhere';

export const tiers: readonly Tier[] = ['room', 'wide', 'contract', 'elsewhere'];

/** What one file of tests was seen to do. */
interface Seen {
  /** Of all that it needs. */
  readonly key: string;
  /** The mutants that it was run for. */
  readonly probed: readonly string[];
  readonly passes: boolean;
  readonly seconds: number;
  /** The mutants whose place it runs. */
  readonly reaches: readonly string[];
}

/** So many files share one start of jest. */
const together: Readonly<Record<Tier, number>> = { room: 12, wide: 8, contract: 1, elsewhere: 1 };

/** Knows which files of tests run a mutant's place: each was run once, with probes in the product's code. */
export class TestMap {
  readonly #sources: Sources;
  readonly #tier: Tier;
  readonly #seen: KeptValues<Seen>;
  readonly #tests: readonly string[];

  constructor(sources: Sources, tier: Tier, folder: string) {
    this.#sources = sources;
    this.#tier = tier;
    this.#seen = new KeptValues(join(folder, `map-${tier}.json`));
    const [isTest, others] = [/\.test\.ts$/, /\.(contract|api|capi)\.test\.ts$/];
    this.#tests = sources.files.filter((file) =>
      projectOf(tier) === 'contract' ? file.endsWith('.contract.test.ts') : isTest.test(file) && !others.test(file),
    );
  }

  /** Of all that a file of tests needs. */
  keyOf(test: string): string {
    const needed = [...this.#sources.reach(test).keys()].toSorted();
    return hash(...needed.flatMap((file) => [file, this.#sources.text(file)]));
  }

  /** The file of tests, if there still is one in this tier. */
  known(test: string | undefined): string | undefined {
    return test !== undefined && this.#tests.includes(test) ? test : undefined;
  }

  /** The file of tests that is named after the mutant's file, if it is of this tier. */
  namedAfter({ file }: Mutant): string | undefined {
    return this.#tests.find((test) => test.startsWith(file.replace(/\.ts$/, '.')));
  }

  /** Runs those files of tests with probes of which nothing is known yet. */
  async learn(mutants: readonly Mutant[], workers: number, print: (line: string) => void): Promise<void> {
    const stale = this.#tests.flatMap((test): readonly Stale[] => {
      const reach = this.#sources.reach(test);
      const near = mutants.filter((mutant) => reach.has(mutant.file) && this.#isNear(mutant, test)).map(({ id }) => id);
      const [key, seen] = [this.keyOf(test), this.#seen.get(test)];
      const known = seen?.key === key ? seen : undefined;
      return near.every((id) => known?.probed.includes(id)) ? [] : [{ test, key, near, known }];
    });
    if (stale.length === 0) return;
    print(`${stale.length} files of ${this.#tier} tests are run once, to learn what they reach …`);
    const texts = this.#probedTexts(mutants);
    const size = together[this.#tier];
    const groups = Array.from({ length: Math.ceil(stale.length / size) }, (_, at) =>
      stale.slice(at * size, (at + 1) * size),
    );
    await sideBySide(groups, workers, (group) => this.#learnGroup(group, texts, print));
  }

  /** The files of tests that run the mutant's place, the nearest and quickest first, as many as fit into the time; and how many do not. */
  testsOf(mutant: Mutant, mostSeconds: number): TestsOfMutant {
    const { id, file } = mutant;
    const sibling = file.replace(/\.ts$/, '.');
    const found = this.#tests
      .flatMap((test) => {
        const seen = this.#seen.get(test);
        const steps = this.#sources.reach(test).get(file);
        if (
          seen === undefined ||
          !this.#isNear(mutant, test) ||
          steps === undefined ||
          !seen.passes ||
          !seen.reaches.includes(id)
        )
          return [];
        return [{ test, seconds: seen.seconds, distance: test.startsWith(sibling) ? 0 : steps + seen.seconds / 2 }];
      })
      .toSorted((a, b) => a.distance - b.distance);
    let left = mostSeconds;
    const tests = found.filter(({ seconds }, index) => {
      if (index > 0 && seconds > left) return false;
      left -= seconds;
      return true;
    });
    return { tests, tooSlow: found.length - tests.length };
  }

  #isNear(mutant: Mutant, test: string): boolean {
    if (projectOf(this.#tier) === 'contract')
      return (areaOf(test) === areaOf(mutant.file)) === (this.#tier === 'contract');
    return (roomOf({ file: test }) === roomOf(mutant)) === (this.#tier === 'room');
  }

  #probedTexts(mutants: readonly Mutant[]): Readonly<Record<string, string>> {
    const byFile = Map.groupBy(mutants, ({ file }) => file);
    return Object.fromEntries([...byFile].map(([file, those]) => [file, probed(this.#sources.text(file), those)]));
  }

  async #learnGroup(
    group: readonly Stale[],
    texts: Readonly<Record<string, string>>,
    print: (line: string) => void,
  ): Promise<void> {
    const name = join(await workFolder(), `learn-${hash(...group.map(({ test }) => test))}`);
    const [hits, report] = [`${name}.hits`, `${name}.json`];
    const tests = group.map(({ test }) => test);
    await runJest({ project: projectOf(this.#tier), tests, texts, limitMs: 20 * 60_000, hits, report });
    const lines = (await readFile(hits, 'utf8').catch(() => '')).split('\n').map((line) => line.split('\t'));
    const { testResults } = JSON.parse(await readFile(report, 'utf8').catch(() => '{"testResults":[]}')) as JestJson;
    for (const { test, key, near, known } of group) {
      const path = join(root, test);
      const result = testResults.find(({ name: of }) => of === path);
      if (result === undefined) {
        print(`${test} was not run to its end: it judges nothing in this run`);
        continue;
      }
      const passes = result.status === 'passed';
      if (!passes) print(`${test} does not pass as it is: it judges nothing`);
      const seconds = (result.endTime - result.startTime) / 1000;
      const reaches = lines.flatMap(([of, id]) => (of === path && id !== undefined ? [id] : []));
      const union = (more: readonly string[], before: readonly string[] = []): readonly string[] => [
        ...new Set([...before, ...more]),
      ];
      const probed = union(near, known?.probed);
      this.#seen.set(test, { key, probed, passes, seconds, reaches: union(reaches, known?.reaches) });
    }
    await Promise.all([hits, report].map((path) => rm(path, { force: true })));
  }
}

/** The files of tests that are run for a mutant. */
export interface TestsOfMutant {
  readonly tests: readonly { readonly test: string; readonly seconds: number }[];
  /** How many more run its place, and take too long. */
  readonly tooSlow: number;
}

/** A file of tests that is to be run once, for the mutants near it. */
interface Stale {
  readonly test: string;
  readonly key: string;
  readonly near: readonly string[];
  /** What was seen of it before, for other mutants. */
  readonly known: Seen | undefined;
}

export const projectOf = (tier: Tier): 'unit' | 'contract' =>
  tier === 'contract' || tier === 'elsewhere' ? 'contract' : 'unit';

/** The upper two folders of a file: a driver, for example. */
const areaOf = (file: string): string => file.split('/').slice(0, 2).join('/');

interface JestJson {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly startTime: number;
    readonly endTime: number;
  }[];
}
