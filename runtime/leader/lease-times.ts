/** How long a Lease counts, and how it is renewed, in milliseconds. */
export interface LeaseTimes {
  readonly durationMs: number;
  readonly renewWithinMs: number;
  readonly retryMs: number;
}

/**
 * The given times, or those of Kubernetes' own controllers. Throws when two processes could hold one Lease at the same time: `user` and `harm`
 * say in the message who needs the order, and what happens without it.
 */
export function leaseTimes(
  { durationMs = 15_000, renewWithinMs = 10_000, retryMs = 2_000 }: Partial<LeaseTimes>,
  { user, harm }: { readonly user: string; readonly harm: string },
): LeaseTimes {
  if (retryMs < renewWithinMs && renewWithinMs < durationMs) return { durationMs, renewWithinMs, retryMs };
  const times = [retryMs, renewWithinMs, durationMs].join(', ');
  throw new Error(`${user} needs retry < renew deadline < lease duration, not ${times} ms: otherwise ${harm}`);
}
