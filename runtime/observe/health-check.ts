/** One thing that must be true. */
export interface HealthCheck {
  /** Lower-case with dashes, e.g. `informer-sync`. */
  readonly name: string;
  /** True for a part that waits alone: the page shows it and passes, only the check's own path fails. */
  readonly optional?: boolean;
  /** Why it is not, as text for people; undefined when all is well. Quick: it looks at memory only. */
  check(): string | undefined;
}
