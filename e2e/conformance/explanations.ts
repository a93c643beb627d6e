interface Explanation {
  readonly pattern: RegExp;
  /** Whose it is: the product under test, the machines of the run, or the images that were made for it. */
  readonly cause: 'product' | 'machine' | 'image';
  readonly text: string;
}

/** What was found about tests that failed here. A failure of which nothing is known stands on the page with its own message. */
const explanations: readonly Explanation[] = [];

/** The explanation of a test's failure, as the page shows it; undefined when there is none. */
export function explanationOf(name: string): string | undefined {
  const found = explanations.find(({ pattern }) => pattern.test(name));
  return found === undefined ? undefined : `${found.cause}: ${found.text}`;
}
