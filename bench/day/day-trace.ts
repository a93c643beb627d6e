/**
 * A time in which a tenant is used, in minutes since the day began: the first call comes at `from`, the last one at `to`. Pauses must be
 * shorter than `afterIdle`: they pass only on moved clocks, and use is measured on clocks that are not moved, so that a longer one would not put
 * the tenant to sleep as on a real day.
 */
export interface UsedTime {
  readonly from: number;
  readonly to: number;
  readonly everyMinutes: number;
}

/** What one tenant is used for in a day. */
export interface TenantDay {
  readonly tenant: string;
  readonly uses: readonly UsedTime[];
}

/** What happens at a minute, counted since the day began. */
export interface DayMoment {
  readonly at: number;
  readonly calls: readonly DayCall[];
  /** Tenants that are used no more for a while: nothing happens before they sleep. */
  readonly rests: readonly string[];
}

/** A call of somebody. */
export interface DayCall {
  readonly tenant: string;
  /** Whether it is the first one of a time in which the tenant is used. */
  readonly isFirst: boolean;
}

/** After so many minutes without use they fall asleep: the least that is allowed, because it passes on clocks that are not moved. */
export const afterIdleMinutes = 5;

const hour = 60;

/** The minutes of a day. */
export const dayMinutes = 24 * hour;

/** The day begins in the evening, when people have left, and ends in the next one: in minutes since midnight. */
export const dayBegins = 17 * hour;

/** A job in the night at two, a team in its office from nine to five, and two tenants that nobody needs on that day. */
export const usualDay: readonly TenantDay[] = [
  { tenant: 'office', uses: [{ from: 16 * hour, to: dayMinutes, everyMinutes: 4 }] },
  { tenant: 'nightly', uses: [{ from: 9 * hour, to: 9 * hour + 20, everyMinutes: 1 }] },
  { tenant: 'idle-1', uses: [] },
  { tenant: 'idle-2', uses: [] },
];

/** What happens in a day, in order. All tenants begin it awake, and rest first. Nobody waits for a rest at its end. */
export function dayMoments(day: readonly TenantDay[]): readonly DayMoment[] {
  const moments = new Map<number, { readonly calls: DayCall[]; readonly rests: string[] }>();
  const momentAt = (at: number): { readonly calls: DayCall[]; readonly rests: string[] } => {
    const found = moments.get(at) ?? { calls: [], rests: [] };
    moments.set(at, found);
    return found;
  };
  for (const { tenant, uses } of day) {
    momentAt(0).rests.push(tenant);
    for (const { from, to, everyMinutes } of uses) {
      for (let at = from; at <= to; at += everyMinutes) momentAt(at).calls.push({ tenant, isFirst: at === from });
      if (to < dayMinutes) momentAt(to).rests.push(tenant);
    }
  }
  return [...moments].map(([at, moment]) => ({ at, ...moment })).toSorted((one, other) => one.at - other.at);
}
