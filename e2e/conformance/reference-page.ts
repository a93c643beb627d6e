import type { ConformanceRecord, RecordedTest } from './conformance-record.ts';
import { groupOf } from './conformance-tests.ts';

const outcomes = ['passed', 'failed', 'skipped', 'not run'] as const;

/** A row of a table of tests. */
interface Reason {
  readonly name: string;
  readonly reason: string;
}

const inCell = (text: string): string =>
  text
    .trim()
    .slice(0, 600)
    .replaceAll(/\s+/g, ' ')
    .replaceAll('|', String.raw`\|`);

function summary(tests: readonly RecordedTest[]): readonly string[] {
  const count = (of: readonly RecordedTest[]): readonly number[] =>
    outcomes.map((outcome) => of.filter((test) => test.outcome === outcome).length);
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
  const groups = [...Map.groupBy(tests, ({ name }) => groupOf(name))].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [
    line(['', 'tests', ...outcomes]),
    line(['---', ...['tests', ...outcomes].map(() => '---:')]),
    ...groups.map(([group, of]) => line([group, of.length, ...count(of)])),
    line(['all', tests.length, ...count(tests)]),
  ];
}

function reasons(title: string, rows: readonly Reason[]): readonly string[] {
  if (rows.length === 0) return [];
  return [
    '',
    `## ${title}`,
    '',
    '| Test | Reason |',
    '| --- | --- |',
    ...rows.map(({ name, reason }) => `| ${inCell(name)} | ${inCell(reason)} |`),
  ];
}

function notRun(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const intro = 'These have no result yet; `npm run conformance` runs them next.';
  return ['', '## Not run', '', intro, '', ...names.map((name) => `- ${name}`)];
}

/**
 * docs/reference/conformance.md: how many of Kubernetes' conformance tests a tenant passes, and each that it does not, with the reason.
 * @param explanationOf what is known about a test that failed.
 */
export function referencePage(
  { kubernetes, commit, date, tests }: ConformanceRecord,
  explanationOf: (name: string) => string | undefined,
): string {
  const of = (outcome: RecordedTest['outcome']): readonly RecordedTest[] =>
    tests.filter((test) => test.outcome === outcome);
  const failed = of('failed').map(({ name, message = '' }): Reason => ({
    name,
    reason: explanationOf(name) ?? `not explained yet: ${message}`,
  }));
  return [
    '<!-- Made by `npm run conformance -- --page`; do not edit. -->',
    '',
    '# Conformance',
    '',
    `The conformance tests of Kubernetes ${kubernetes}, by its own \`e2e.test\` built from its Go module, against a tenant of that version`,
    'with CoreDNS, kube-proxy, konnectivity and two workers on the machines of `e2e/cluster`. This is not a certification, which would',
    'need the published images. The images here are built from Go modules and Debian packages, with the published names',
    '(`e2e/conformance/images`). Both tags of agnhost are the same program. One image is pulled, from a local registry that stands',
    'in for registry.k8s.io; its `/etc/os-release` is a comment that names the system of the published one, as the test expects.',
    '',
    '`npm run conformance` runs the tests that have no result yet. `npm run conformance -- --page` writes this page from the results so far.',
    '',
    `Written at commit ${commit} on ${date}; the result of each test is in \`e2e/conformance/results.json\`.`,
    '',
    ...summary(tests),
    ...reasons('Failed', failed),
    ...reasons(
      'Skipped by the test itself',
      of('skipped').map(({ name, message = '' }) => ({ name, reason: message })),
    ),
    ...notRun(of('not run').map(({ name }) => name)),
    '',
  ].join('\n');
}
