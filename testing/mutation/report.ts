import type { Explanations } from './explanations.ts';
import type { Verdict } from './judge.ts';
import type { Mutant } from './mutant.ts';
import { roomOf, rooms } from './sample.ts';
import { projectOf } from './test-map.ts';
import type { Tier } from './test-map.ts';

export interface Judged {
  readonly mutant: Mutant;
  readonly verdict: Verdict;
  /** The tier whose test saw it. */
  readonly tier?: Tier;
}

export interface Row {
  readonly room: string;
  readonly judged: number;
  readonly killed: number;
  readonly byContract: number;
}

/** A row for each room with judged mutants, and the sum. */
export function rowsOf(judged: readonly Judged[]): readonly Row[] {
  const row = (room: string, those: readonly Judged[]): Row => ({
    room,
    judged: those.length,
    killed: those.filter(({ verdict }) => verdict.killed).length,
    byContract: those.filter(({ tier }) => tier !== undefined && projectOf(tier) === 'contract').length,
  });
  const each = rooms.map((room) =>
    row(
      room,
      judged.filter(({ mutant }) => roomOf(mutant) === room),
    ),
  );
  return [...each.filter(({ judged: count }) => count > 0), row('all', judged)];
}

/** Rounded down: 85 % is at least 85 %. */
export const rateOf = ({ judged, killed }: Row): number => (judged === 0 ? 100 : Math.floor((100 * killed) / judged));

const oneLine = (text: string, most = 90): string => {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll('|', String.raw`\|`);
  return line.length > most ? `${line.slice(0, most)} …` : line;
};

const code = (text: string): string => `\`${oneLine(text).replaceAll('`', "'")}\``;

/** The page of the reference. */
export function reportPage(
  judged: readonly Judged[],
  explanations: Explanations,
  from: { readonly commit: string; readonly date: string },
): string {
  const rows = rowsOf(judged).map(
    (row) =>
      `| ${row.room} | ${row.judged} | ${row.killed} | ${row.byContract} | ${row.judged - row.killed} | ${rateOf(row)} % |`,
  );
  const survivors = judged
    .filter(({ verdict }) => !verdict.killed)
    .toSorted((a, b) => a.mutant.file.localeCompare(b.mutant.file) || a.mutant.line - b.mutant.line)
    .map(
      ({ mutant, verdict }) =>
        `| \`${mutant.id}\` | \`${mutant.file}\` ${mutant.within === '' ? '' : `in \`${mutant.within}\``} | ${code(mutant.original)} → ${code(mutant.replacement)} | ${explanations[mutant.id] ?? `**not explained** (${verdict.by})`} |`,
    );
  return `# Mutation tests

<!-- Written by npm run mutate. -->

Would a test notice if the code were wrong? \`npm run mutate\` makes one small mistake at a time in the product's code (a mutant) and
runs the unit tests that execute the changed code. If the mutant survives, the contract tests that execute the code follow.
A mutant is killed when a test fails or does not end. The sample is fixed: the same mutants are judged each time, until their code changes.

Seen at commit ${from.commit} on ${from.date}:

| Room | Judged | Killed | of these by contract tests | Survived | Rate |
| --- | --- | --- | --- | --- | --- |
${rows.join('\n')}

## What survives

The reason for each says why no test notices it. The reasons are in \`testing/mutation/survivors.yaml\`. A mutant with a reason is not run:
\`npm run mutate -- --id <mutant>\` runs it.

| Mutant | Where | Change | Why it survives |
| --- | --- | --- | --- |
${survivors.join('\n')}

## How it works

- Mutants are derived from the syntax tree of each source file of the binary: conditions negated, operators and bounds
  exchanged, operands of \`&&\`, \`||\` and \`??\` dropped, statements and guards removed, numbers, truth values and names replaced, lists and
  objects emptied, optional chains made certain. Texts, logs, types, generated files and the tables of the schemas are not changed.
- A mutant's name comes from the name of its file, the function around it and the text: the sample stays the same when lines or
  folders move.
- No file of the tree is touched: jest's transformer reads the mutant's text in place of the file's.
- The file of tests that killed a mutant last time (\`testing/mutation/killers.yaml\`) is tried first, and then the one that is named
  after its file. For mutants that survive this, each file of tests is run once with probes to find out which code it executes. This, and each verdict, is cached in
  \`.cache/mutation/\` until something changes that the test depends on. An interrupted run therefore continues where it stopped.
- \`npm run mutate -- runtime stores/nats\` judges only these folders, \`--tier wide\` leaves the contract tests out, \`--id <mutant>\`
  judges one and prints it, \`--workers 2\` takes two processors. Only a whole run writes this page.

StrykerJS 10.1 was considered and rejected: its jest runner (10.0.0) requires another release of its core than the current one, it supports
one tier of tests and not two, and it has no fixed sample for each room, which is necessary with two processors.
`;
}
