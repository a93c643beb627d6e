/** One condition type: what True means, and every reason that it may have. */
export interface ConditionRow {
  /** What True means. */
  readonly meaning: string;
  /** With `negative`, False is the healthy state. */
  readonly polarity: 'positive' | 'negative';
  /** Reason → its explanation for users. */
  readonly reasons: Readonly<Record<string, string>>;
}
