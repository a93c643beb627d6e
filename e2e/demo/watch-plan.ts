/** When the tenants of a watch are made. */
export interface WatchPlan {
  readonly hours: number;
  readonly tenants: number;
}

/** The shortest time from one tenant to the next: Steward needs seconds for each, and this one is no load test. */
const shortestMs = 10_000;

/**
 * Milliseconds from one tenant to the next.
 * @throws Error that names the option when the plan cannot be kept.
 */
export function tenantInterval({ hours, tenants }: WatchPlan): number {
  if (!(hours > 0)) throw new Error('--watch: a number of hours above 0 is needed, for example 2 or 0.5.');
  if (!Number.isInteger(tenants) || tenants < 1) throw new Error('--tenants: a whole number of at least 1 is needed.');
  const interval = (hours * 3_600_000) / tenants;
  if (interval >= shortestMs) return interval;
  const most = Math.floor((hours * 3_600_000) / shortestMs);
  throw new Error(`--tenants ${tenants}: in ${hours} h there is time for ${most}, one every ${shortestMs / 1000} s.`);
}
