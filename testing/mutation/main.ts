import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readExplanations } from './explanations.ts';
import { Judge } from './judge.ts';
import type { Verdict } from './judge.ts';
import type { Mutant } from './mutant.ts';
import { readKillers, writeKillers } from './killers.ts';
import { mutantsOf } from './mutants-of.ts';
import { root, workFolder } from './places.ts';
import { rateOf, reportPage, rowsOf } from './report.ts';
import type { Judged } from './report.ts';
import { roomOf, rooms, sampleOf } from './sample.ts';
import { sideBySide } from '../side-by-side.ts';
import { Sources } from './sources.ts';
import { withoutTwins } from './without-twins.ts';
import { projectOf, TestMap, tiers } from './test-map.ts';
import type { Tier } from './test-map.ts';

/**
 * Measures which mutants the tests kill. Arguments are prefixes of paths; without any, the whole sample is judged and
 * docs/reference/mutation.md is written: npm run mutate -- runtime stores/nats --tier room --workers 2
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tier: { type: 'string', default: 'elsewhere' },
    workers: { type: 'string', default: '2' },
    id: { type: 'string', multiple: true },
    list: { type: 'boolean', default: false },
  },
});

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const workers = Number(values.workers);
const wantedTier = tiers.find((tier) => tier === values.tier);
if (wantedTier === undefined) throw new Error(`--tier is one of ${tiers.join(', ')}, not ${values.tier}`);
const sources = new Sources();
const isOfWantedRoom = (file: string): boolean =>
  positionals.length === 0 || positionals.some((beginning) => roomOf({ file }) === roomOf({ file: beginning }));
const all = withoutTwins(
  sources
    .product()
    .filter(isOfWantedRoom)
    .flatMap((file) => mutantsOf(file, sources.text(file))),
);
const sample = rooms.flatMap((room) => sampleOf(all, room));
const isWanted = ({ file, id }: Mutant): boolean =>
  values.id?.includes(id) ?? (positionals.length === 0 || positionals.some((beginning) => file.startsWith(beginning)));
const wanted = (values.id === undefined ? sample : all).filter(isWanted);
const explanations = readExplanations();
const killers = readKillers();
/** Those with a reason count as survivors without being run, unless they are asked for by name. */
const explained = values.id === undefined ? wanted.filter(({ id }) => explanations[id] !== undefined) : [];
const place = ({ id, file, line, within }: Mutant): string => `${id} ${file}:${line} ${within}`;
const change = ({ original, replacement }: Mutant): string => `${original} → ${replacement}`.replaceAll(/\s+/g, ' ');

/** The servers of contract tests are enough for both processors. */
const atOnce = (tier: Tier): number => (projectOf(tier) === 'contract' ? 1 : workers);

interface Guessed {
  readonly judged: Judged[];
  /** Those that no guess has killed. */
  readonly open: readonly Mutant[];
  readonly note: (mutant: Mutant, verdict: Verdict) => void;
}

/** Tries the most likely file of tests for each mutant. */
async function guessed(
  judge: Judge,
  { tier, mutants }: { readonly tier: Tier; readonly mutants: readonly Mutant[] },
): Promise<Guessed> {
  const judged: Judged[] = [];
  const note = (mutant: Mutant, verdict: Verdict): void => {
    judged.push({ mutant, verdict, ...(verdict.killed ? { tier } : {}) });
    const word = verdict.killed ? 'killed  ' : 'SURVIVED';
    print(`${word} ${place(mutant)}: ${verdict.killed ? verdict.by : `${change(mutant)} (${verdict.by})`}`);
  };
  const open: Mutant[] = [];
  await sideBySide(mutants, atOnce(tier), async (mutant) => {
    const verdict = await judge.guess(mutant);
    if (verdict === undefined) open.push(mutant);
    else note(mutant, verdict);
  });
  return { judged, open, note };
}

/** Those that contract tests killed in the last recorded run: these are tried before it is learned what all unit tests reach. */
async function killedByContract(mutants: readonly Mutant[]): Promise<readonly Judged[]> {
  const tier = 'contract';
  const folder = await workFolder();
  const judge = new Judge({ sources, map: new TestMap(sources, tier, folder), killers }, tier, folder);
  const recorded = mutants.filter(({ id }) => killers[id]?.endsWith('.contract.test.ts') === true);
  const { judged } = await guessed(judge, { tier, mutants: recorded });
  return judged;
}

async function judgedBy(tier: Tier, mutants: readonly Mutant[]): Promise<readonly Judged[]> {
  const folder = await workFolder();
  const map = new TestMap(sources, tier, folder);
  const judge = new Judge({ sources, map, killers }, tier, folder);
  const { judged, open, note } = await guessed(judge, { tier, mutants });
  await map.learn(open, workers, print);
  await sideBySide(open, atOnce(tier), async (mutant) => {
    note(mutant, await judge.judge(mutant));
  });
  return judged;
}

async function page(judged: readonly Judged[]): Promise<void> {
  const path = join(root, 'docs', 'reference', 'mutation.md');
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  const date = new Date().toISOString().slice(0, 10);
  await writeFile(path, reportPage(judged, explanations, { commit, date }));
}

if (values.list) {
  for (const mutant of wanted) print(`${place(mutant)}: ${change(mutant)}`);
} else {
  let judged: readonly Judged[] = explained.map((mutant) => ({ mutant, verdict: { killed: false, by: 'explained' } }));
  let left = wanted.filter((mutant) => !explained.includes(mutant));
  if (projectOf(wantedTier) === 'contract') {
    const early = await killedByContract(left);
    judged = [...judged, ...early];
    left = left.filter((mutant) => !early.some((one) => one.mutant === mutant));
  }
  for (const tier of tiers.slice(0, tiers.indexOf(wantedTier) + 1)) {
    const now = await judgedBy(tier, left);
    left = now.filter(({ verdict }) => !verdict.killed).map(({ mutant }) => mutant);
    const before = new Map(judged.map(({ mutant, verdict }) => [mutant.id, verdict.by]));
    const withReasons = now.map((one): Judged => {
      const earlier = before.get(one.mutant.id);
      if (one.verdict.killed || earlier === undefined) return one;
      return { ...one, verdict: { killed: false, by: `${earlier}; ${one.verdict.by}` } };
    });
    const isDone = ({ mutant, verdict }: Judged): boolean => verdict.killed || explained.includes(mutant);
    judged = [...judged.filter(isDone), ...withReasons];
  }
  for (const row of rowsOf(judged))
    print(
      `${row.room}: ${row.judged} judged, ${row.killed} killed, ${row.judged - row.killed} survived, ${rateOf(row)} %`,
    );
  if (wanted.length === sample.length && wantedTier === tiers.at(-1)) {
    await page(judged);
    writeKillers(judged);
  }
}
