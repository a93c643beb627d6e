import { appendFileSync } from 'node:fs';

const verdict = process.env.STEWARD_MUTATION_VERDICT;

/** The first failing test has killed the mutant; the rest of the run would only take time. */
// eslint-disable-next-line no-restricted-syntax -- jest takes the default export
export default class FirstFailure {
  onTestCaseResult(
    { path }: { readonly path: string },
    result: { readonly status: string; readonly fullName: string },
  ) {
    if (result.status === 'failed' && verdict !== undefined) this.#end(`${path}\t${result.fullName}`);
  }

  /** A file that cannot be loaded, or whose hooks fail. */
  onTestResult(
    { path }: { readonly path: string },
    result: { readonly numFailingTests: number; readonly testExecError?: unknown },
  ) {
    const failed = result.testExecError !== undefined && result.testExecError !== null;
    if (verdict !== undefined && (failed || result.numFailingTests > 0)) this.#end(`${path}\t(the file itself)`);
  }

  #end(told: string): void {
    appendFileSync(verdict ?? '/dev/null', `${told}\n`);
    // Servers of the contract tests end with the process that started them.
    process.exit(1);
  }
}
