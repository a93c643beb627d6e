/** A row of the table: what a condition says when it is True, and every reason that it may carry. */
export interface ConditionRow {
  /** What True means. */
  readonly meaning: string;
  /** With `negative`, False is the good state. */
  readonly polarity: 'positive' | 'negative';
  /** Reason → what it means to the person who reads it. */
  readonly reasons: Readonly<Record<string, string>>;
}
