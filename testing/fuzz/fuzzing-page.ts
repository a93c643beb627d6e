import type { FuzzResult } from './fuzz-result.ts';

/** The page of the last recorded run. */
export function fuzzingPage(
  results: readonly FuzzResult[],
  { commit, date }: { readonly commit: string; readonly date: string },
): string {
  const sorted = [...results].sort((a, b) => (a.name < b.name ? -1 : 1));
  const sum = (of: (result: FuzzResult) => number): number => sorted.reduce((total, result) => total + of(result), 0);
  const rows = sorted.map(({ name, from, seconds, inputs, branches, corpus, findings }) =>
    [name, from, seconds.toFixed(0), inputs, branches, corpus, findings.length].join(' | '),
  );
  return [
    '# Fuzzing',
    '',
    '<!-- Written by npm run fuzz -- --record. -->',
    '',
    'What do parsers do with bytes that someone outside the trust chose? `npm run fuzz` makes inputs out of valid ones, keeps those that',
    'take a branch of the code which no earlier one took ([Jazzer.js](https://github.com/CodeIntelligenceTesting/jazzer.js) on libFuzzer), and',
    'reports a finding when a parser throws something that it is not documented to throw, breaks a promise about its result, writes outside',
    'its folder, changes the prototype of objects, or takes longer than two seconds. The inputs that were kept are in `testing/fuzz/corpus`;',
    'the unit tests parse each of them.',
    '',
    `Seen at commit ${commit} on ${date}: ${sum(({ inputs }) => inputs)} inputs in ${(sum(({ seconds }) => seconds) / 60).toFixed(0)} minutes of one processor, ${sum(({ findings }) => findings.length)} findings.`,
    '',
    '| Parser | Who can choose its bytes | Seconds | Inputs | Branches | Corpus | Findings |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows.map((row) => `| ${row} |`),
    '',
  ].join('\n');
}
