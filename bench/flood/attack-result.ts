/** What became of an attack. */
export interface AttackResult {
  /** By the clock, in milliseconds. */
  readonly endedAt: number;
  /** Requests, watches or connections that the server took. */
  readonly accepted: number;
  readonly failures: readonly string[];
}
