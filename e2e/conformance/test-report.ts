/** How one test ended. `interrupted`: it was cut off by the time limit of the run. */
export type Outcome = 'passed' | 'failed' | 'skipped' | 'interrupted';

/** What is known of one test that was run. */
export interface TestResult {
  readonly name: string;
  readonly outcome: Outcome;
  readonly seconds: number;
  /** Why it failed or skipped itself. */
  readonly message?: string;
}

/** The part of ginkgo's JSON report that is read here (`types.Report` of github.com/onsi/ginkgo/v2). */
interface GinkgoSpec {
  readonly ContainerHierarchyTexts: readonly string[] | null;
  readonly LeafNodeText: string;
  readonly LeafNodeType: string;
  readonly State: string;
  readonly RunTime: number;
  readonly Failure?: { readonly Message?: string };
}

const outcomes: Readonly<Record<string, Outcome>> = {
  passed: 'passed',
  skipped: 'skipped',
  failed: 'failed',
  panicked: 'failed',
  timedout: 'interrupted',
  interrupted: 'interrupted',
  aborted: 'interrupted',
};

/** Reads the report that `--ginkgo.json-report` writes. Tests that were not chosen are left out: nothing was learned of them. */
export function readTestReport(text: string): readonly TestResult[] {
  const suites = JSON.parse(text) as readonly { readonly SpecReports: readonly GinkgoSpec[] | null }[];
  return suites
    .flatMap(({ SpecReports }) => SpecReports ?? [])
    .filter(({ LeafNodeType }) => LeafNodeType === 'It')
    .flatMap((spec) => {
      const outcome = outcomes[spec.State];
      const message = spec.Failure?.Message ?? '';
      // A test that skips itself says why; one that was not chosen says nothing.
      if (outcome === undefined || (outcome === 'skipped' && message === '')) return [];
      const name = [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(' ');
      const seconds = Math.round(spec.RunTime / 1e8) / 10;
      return [{ name, outcome, seconds, ...(message === '' ? {} : { message }) }];
    });
}

/** What prevented the tests of a report from being run at all: the failures of the suite's own set-up. */
export function suiteFailures(text: string): readonly string[] {
  const suites = JSON.parse(text) as readonly { readonly SpecReports: readonly GinkgoSpec[] | null }[];
  return suites
    .flatMap(({ SpecReports }) => SpecReports ?? [])
    .filter(({ LeafNodeType, State }) => LeafNodeType !== 'It' && outcomes[State] === 'failed')
    .map(({ LeafNodeType, Failure }) => `${LeafNodeType}: ${Failure?.Message ?? 'no message'}`);
}
