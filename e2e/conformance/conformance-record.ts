import type { ConformanceTest } from './conformance-tests.ts';
import type { TestResult } from './test-report.ts';

/** One test of the record. A test that was cut off counts as not run. */
export interface RecordedTest {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped' | 'not run';
  /** How long it took; absent for one that was not run. */
  readonly seconds?: number;
  /** Why it failed or skipped itself. */
  readonly message?: string;
}

/** `e2e/conformance/results.json`: the results that the page shows. */
export interface ConformanceRecord {
  readonly kubernetes: string;
  /** The commit at which the record is written, and the day. */
  readonly commit: string;
  readonly date: string;
  readonly tests: readonly RecordedTest[];
}

/** Every test of Kubernetes' conformance with its result, by name. */
export function recordedTests(
  tests: readonly ConformanceTest[],
  results: readonly TestResult[],
): readonly RecordedTest[] {
  const known = new Map(results.map((result) => [result.name, result]));
  return tests
    .map(({ name }): RecordedTest => {
      const result = known.get(name);
      if (result === undefined || result.outcome === 'interrupted') return { name, outcome: 'not run' };
      return { ...result, outcome: result.outcome };
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
