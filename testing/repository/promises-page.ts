import type { NamedTest } from './named-tests.ts';
import { proofLinks, proofTable } from './proof-table.ts';

/** Whether tests show a promise. */
type Verdict = 'shown' | 'in part' | 'not shown';

/** One promise of Steward to its users. */
export interface StewardPromise {
  readonly promise: string;
  readonly verdict: Verdict;
  /** Tests that fail without what is promised, or without a part of it. */
  readonly tests?: readonly NamedTest[];
  /** Committed results and pages that show it beside tests. */
  readonly files?: readonly string[];
  /** What is not shown, and why. */
  readonly missing?: string;
}

/** Promises about one matter. */
export interface PromiseGroup {
  readonly group: string;
  readonly promises: readonly StewardPromise[];
}

/** How many of the promises have which verdict, in one sentence. */
function promiseCounts(promises: readonly StewardPromise[]): string {
  const having = (wanted: Verdict): number => promises.filter(({ verdict }) => verdict === wanted).length;
  return `${promises.length} promises: ${having('shown')} shown, ${having('in part')} in part, ${having('not shown')} not shown.`;
}

const row = ({ promise, verdict, tests = [], files = [], missing = '' }: StewardPromise): readonly string[] => [
  promise,
  verdict,
  proofLinks(tests, files),
  missing,
];

/** The page that lists each promise with the tests that show it, or why none does. */
export function promisesPage(groups: readonly PromiseGroup[]): string {
  const text = [
    '<!-- Made by `npm run gen` from testing/repository/promises.yaml; do not edit. -->',
    '# Promises and the tests that show them',
    'What Steward has promised its users, each promise in one sentence. It is *shown* if a test fails without it; a figure needs a\n' +
      'committed result as well. *In part* means that tests show some of it. The last column says what is missing.\n' +
      '`…` in the title of a test stands for the values with which it runs several times.',
    promiseCounts(groups.flatMap(({ promises }) => promises)),
    ...groups.flatMap(({ group, promises }) => [
      `## ${group}`,
      proofTable(['Promise', 'Verdict', 'Shown by', 'Missing'], promises.map(row)),
    ]),
  ].join('\n\n');
  return `${text}\n`;
}
