import type { JestReport } from './tier-result.ts';
import type { ProgressMessage } from './tier-progress.ts';

/** What is read of jest's results of one file. */
interface FileResult {
  readonly numFailingTests: number;
  readonly testExecError?: unknown;
  readonly testResults: NonNullable<JestReport['testResults']>[number]['assertionResults'];
}

const say = (message: ProgressMessage): void => void process.send?.(message);

/** jest's reporter that tells the process which started jest what it is at; see `runJest`. */
// eslint-disable-next-line no-restricted-syntax -- jest takes the default export
export default class ProgressReporter {
  /** jest calls it once all setup is done. */
  onRunStart({ numTotalTestSuites }: { readonly numTotalTestSuites: number }): void {
    say({ is: 'began', files: numTotalTestSuites });
  }

  onTestFileStart({ path }: { readonly path: string }): void {
    say({ is: 'file began', file: path });
  }

  onTestFileResult({ path }: { readonly path: string }, result: FileResult): void {
    const { testResults, testExecError, numFailingTests } = result;
    const failed = numFailingTests > 0 || (testExecError !== undefined && testExecError !== null);
    const assertionResults = testResults.map(({ fullName, status, duration = null }) => ({
      fullName,
      status,
      duration,
    }));
    say({ is: 'file ended', report: { name: path, status: failed ? 'failed' : 'passed', assertionResults } });
  }
}
