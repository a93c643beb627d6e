/** What is read of jest's report of one run. */
export interface JestReport {
  readonly testResults?: readonly {
    /** The file's path. */
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      /** `passed`, `failed`, or one of several words for a test that was not run. */
      readonly status: string;
      /** In milliseconds. */
      readonly duration?: number | null;
    }[];
  }[];
}

/** One test, or the file itself when none of its tests could begin. */
export interface TestResult {
  readonly file: string;
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly seconds: number;
}

/** What one tier came to. */
export interface TierResult {
  readonly tests: readonly TestResult[];
  /** Those that failed, and passed when their files were run again. */
  readonly flaky: readonly TestResult[];
}

/** The name of what failed in a file outside its tests. */
const fileItself = '(the file itself)';

/** More failed files than these do not fail by chance, and are not run once more. */
export const mostFilesAgain = 3;

/** The tests of one run. A file that could not even start counts as one failed test. */
export function testResults(report: JestReport): readonly TestResult[] {
  return (report.testResults ?? []).flatMap(({ name: file, status, assertionResults }): readonly TestResult[] => {
    const tests = assertionResults.map(({ fullName, status: word, duration }): TestResult => ({
      file,
      name: fullName,
      outcome: word === 'passed' || word === 'failed' ? word : 'skipped',
      seconds: (duration ?? 0) / 1000,
    }));
    // An import or a hook outside all tests broke: jest then blames the file alone.
    const unblamed = status === 'failed' && !tests.some(({ outcome }) => outcome === 'failed');
    return unblamed ? [...tests, { file, name: fileItself, outcome: 'failed', seconds: 0 }] : tests;
  });
}

/** The files in which a test failed, in the order in which they were run. */
export function failedFiles(tests: readonly TestResult[]): readonly string[] {
  return [...new Set(tests.filter(({ outcome }) => outcome === 'failed').map(({ file }) => file))];
}

/**
 * A tier of which some files were run a second time: the second run of a file counts, and tests that failed only in the first are
 * called flaky. A file that the second run did not get to keeps its first result.
 */
export function withSecondRun(first: readonly TestResult[], second: readonly TestResult[]): TierResult {
  const again = new Set(second.map(({ file }) => file));
  const stillFailed = new Set(second.filter(({ outcome }) => outcome !== 'passed').map(identity));
  return {
    tests: [...first.filter(({ file }) => !again.has(file)), ...second],
    flaky: first.filter(
      (test) => test.outcome === 'failed' && again.has(test.file) && !stillFailed.has(identity(test)),
    ),
  };
}

/**
 * Why tests that passed only when they were run again fail a run that proves something; empty when they do not. One file may meet a
 * pause of its machine. Two are no chance, and what was left behind once was left behind.
 */
export function flakyFailures(flaky: readonly TestResult[]): readonly string[] {
  const files = new Set(flaky.map(({ file }) => file));
  const many = files.size > 1 ? [`${files.size} files are flaky; at most one may be`] : [];
  const leaks = flaky.filter(
    ({ name }) => name === fileItself || /\bleav(?:e|es|ing) nothing\b|\bnothing (?:is )?left\b/.test(name),
  );
  return [...many, ...leaks.map(({ name }) => `what a test leaves behind is never flaky: ${name}`)];
}

function identity({ file, name }: TestResult): string {
  return `${file}\n${name}`;
}
