import type { ConformanceTest } from './conformance-tests.ts';
import type { TestResult } from './test-report.ts';

/** The input of the page. */
export interface PageInput {
  readonly version: string;
  readonly tests: readonly ConformanceTest[];
  readonly results: readonly TestResult[];
  /** The commit at which the page is written, and the day. */
  readonly written: { readonly commit: string; readonly date: string };
  /** Why a test is not run. */
  readonly leftOutBecause: (name: string) => string | undefined;
  readonly explanationOf: (name: string) => string | undefined;
}

/** A test with its result. */
interface Row {
  readonly test: ConformanceTest;
  readonly state: 'passed' | 'failed' | 'skipped' | 'left out' | 'not run';
  readonly reason: string;
}

const states = ['passed', 'failed', 'skipped', 'left out', 'not run'] as const;

function rowOf(test: ConformanceTest, { results, leftOutBecause, explanationOf }: PageInput): Row {
  const leftOut = leftOutBecause(test.name);
  if (leftOut !== undefined) return { test, state: 'left out', reason: leftOut };
  const result = results.find(({ name }) => name === test.name);
  if (result === undefined || result.outcome === 'interrupted') return { test, state: 'not run', reason: '' };
  const said = result.message ?? '';
  const reason = result.outcome === 'failed' ? (explanationOf(test.name) ?? `not explained yet: ${said}`) : said;
  return { test, state: result.outcome, reason };
}

const inCell = (text: string): string =>
  text
    .trim()
    .slice(0, 600)
    .replaceAll(/\s+/g, ' ')
    .replaceAll('|', String.raw`\|`);

function summary(rows: readonly Row[]): readonly string[] {
  const count = (of: readonly Row[]): readonly number[] =>
    states.map((state) => of.filter((row) => row.state === state).length);
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
  const bySig = [...Map.groupBy(rows, ({ test }) => test.sig)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [
    line(['', 'tests', ...states]),
    line(['---', ...['tests', ...states].map(() => '---:')]),
    ...bySig.map(([sig, of]) => line([sig, of.length, ...count(of)])),
    line(['all', rows.length, ...count(rows)]),
  ];
}

function reasons(title: string, rows: readonly Row[]): readonly string[] {
  if (rows.length === 0) return [];
  return [
    '',
    `## ${title}`,
    '',
    '| Test | Reason |',
    '| --- | --- |',
    ...rows.map(({ test, reason }) => `| ${inCell(test.name)} | ${inCell(reason)} |`),
  ];
}

function notRun(rows: readonly Row[]): readonly string[] {
  if (rows.length === 0) return [];
  const intro = 'These have no result yet; `npm run conformance` runs them next.';
  return ['', '## Not run', '', intro, '', ...rows.map(({ test }) => `- ${test.name}`)];
}

/** docs/reference/conformance.md: how many of Kubernetes' conformance tests a tenant passes, and each that it does not, with the reason. */
export function referencePage(input: PageInput): string {
  const rows = input.tests.map((test) => rowOf(test, input));
  const of = (state: Row['state']): readonly Row[] => rows.filter((row) => row.state === state);
  return [
    '<!-- Made by `npm run conformance -- --page`; do not edit. -->',
    '',
    '# Conformance',
    '',
    `The conformance tests of Kubernetes ${input.version}, by its own \`e2e.test\` built from its Go module, against a tenant of that version`,
    'with CoreDNS, kube-proxy, konnectivity and one worker on the machines of `e2e/cluster`. This is not a certification, which would',
    'need two nodes and the published images. The images here are built from Go modules and Debian packages, with the published',
    'names (`e2e/tools/conformance-images.ts`). Both tags of agnhost are the same program.',
    '',
    '`npm run conformance` runs the tests that have no result yet. `npm run conformance -- --page` writes this page from the results so far.',
    '',
    `Written at commit ${input.written.commit} on ${input.written.date}; the result of each test is in \`e2e/conformance/results.json\`.`,
    '',
    ...summary(rows),
    ...reasons('Failed', of('failed')),
    ...reasons('Skipped by the test itself', of('skipped')),
    ...reasons('Left out', of('left out')),
    ...notRun(of('not run')),
    '',
  ].join('\n');
}
