/** One thing that must be true. */
export interface HealthCheck {
  /** Lower-case with dashes, e.g. `informer-sync`. */
  readonly name: string;
  /** True for a part that waits alone: the page shows it and passes, only the check's own path fails. */
  readonly optional?: boolean;
  /** Why it is not healthy, as text for people; undefined if it is. Fast: it reads memory only. */
  check(): string | undefined;
}
