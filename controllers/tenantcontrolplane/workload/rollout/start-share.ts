/**
 * How many of `limit` control planes that may start at once may be those of one manager, where several share the tenants: together as many
 * as one manager alone, but at least one each, because a manager whose tenants never start would keep them waiting for ever.
 */
export function startShare(limit: number, members: readonly string[], self: string): number {
  if (!Number.isFinite(limit) || members.length === 0) return limit;
  const rest = limit % members.length;
  const rank = members.toSorted().indexOf(self);
  return Math.max(Math.floor(limit / members.length) + (rank >= 0 && rank < rest ? 1 : 0), 1);
}
