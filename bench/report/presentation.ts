/** One line of the table that sums figures up. Texts, because units differ. */
export interface Headline {
  /** What was measured, with its unit. */
  readonly figure: string;
  readonly value: string;
  /** The same for what it is compared with in the same run. */
  readonly floor?: string;
  /** How many times as much as the floor. */
  readonly times?: string;
}

/**
 * How the rows of a benchmark are shown. Pages are made of it without anything that measures. Rows are those of its own result,
 * also of an old one.
 */
export interface Presentation<Row = unknown> {
  /** Of the benchmark on the command line, and of its result. */
  readonly name: string;
  /** Heading on the page of benchmarks. */
  readonly title: string;
  /** Sentences and tables in Markdown, also for a terminal. */
  report(rows: readonly Row[]): string;
  /** Lines for the table that sums figures up, the most important first. */
  headlines?(rows: readonly Row[]): readonly Headline[];
}
