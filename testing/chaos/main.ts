import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CrashError } from '../fake/fake-faults.ts';
import { faults } from './faults/faults.ts';
import { parseOptions } from './options.ts';
import { plays } from './plays/plays.ts';
import { chaosPage } from './report/chaos-page.ts';
import type { ChaosResults } from './report/chaos-page.ts';
import { playLine, totalLine } from './report/play-result.ts';
import type { PlayResult } from './report/play-result.ts';
import { runPlay } from './run-play.ts';

/** Cases of each operation in the short form. */
const sample = 14;

const root = join(import.meta.dirname, '../..');
const resultsFile = join(root, 'testing/chaos/results.json');

const names = (all: readonly { readonly name: string }[]): readonly string[] => all.map(({ name }) => name);
const options = parseOptions(process.argv.slice(2), { plays: names(plays), faults: names(faults) });
const isChosen = (chosen: readonly string[], { name }: { readonly name: string }): boolean =>
  chosen.length === 0 || chosen.includes(name);

// The product ends a process for such a rejection. What a process does that was killed is of no interest.
const rejections: string[] = [];
process.on('unhandledRejection', (error) => {
  if (!(error instanceof CrashError))
    rejections.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
});

/**
 * Plays the operations of the product in memory, each again and again with one fault at one call, and compares what there is afterwards with
 * what comes of the operation when nothing disturbs it. With `--short` a sample, chosen by the seed.
 */
const results: PlayResult[] = [];
for (const play of plays.filter((one) => isChosen(options.plays, one))) {
  const result = await runPlay(play, {
    faults: faults.filter((one) => isChosen(options.faults, one)),
    seed: options.seed,
    sample: options.short ? sample : undefined,
    call: options.call,
    tell: (text) => {
      process.stdout.write(`${text}\n`);
    },
  });
  results.push(result);
  process.stdout.write(`${playLine(result)}\n`);
  if (options.record) await record(result);
}
const { user, system } = process.cpuUsage();
process.stdout.write(`${totalLine(results, (user + system) / 1e6)}\n`);
for (const text of rejections) process.stdout.write(`a promise was rejected that nobody awaits: ${text}\n`);
process.exitCode = results.every(({ breaches }) => breaches === 0) && rejections.length === 0 ? 0 : 1;

/** Puts the result in the place of an older one of the same operation. */
async function record(fresh: PlayResult): Promise<void> {
  const known = JSON.parse(await readFile(resultsFile, 'utf8').catch(() => '{"operations":[]}')) as ChaosResults;
  const commit = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  const date = new Date().toISOString().slice(0, 10);
  const byName = new Map([...known.operations, { ...fresh, commit, date }].map((one) => [one.name, one]));
  const recorded: ChaosResults = { operations: plays.flatMap(({ name }) => byName.get(name) ?? []) };
  await writeFile(resultsFile, `${JSON.stringify(recorded, undefined, 2)}\n`);
  await writeFile(join(root, 'docs/reference/chaos.md'), chaosPage(recorded, { faults, plays: names(plays) }));
}
