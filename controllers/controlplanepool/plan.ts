/** A control plane in reserve, as far as the plan depends on it. */
export interface Prepared {
  readonly name: string;
  /** False if it was created from another template than the current one. */
  readonly current: boolean;
  readonly ready: boolean;
  /** Since when it has been created, or has not been Ready anymore, in milliseconds since the epoch. */
  readonly since: number;
  /** In milliseconds since the epoch. */
  readonly created: number;
}

/** Replacements of control planes that did not become Ready. */
export interface Replacements {
  readonly count: number;
  /** Time of the last one, in milliseconds since the epoch. */
  readonly last: number;
}

/** What a pool has, and what it should have. */
export interface Reserve {
  /** All in reserve, but for those that are being deleted. */
  readonly prepared: readonly Prepared[];
  readonly wanted: number;
  readonly replaced: Replacements;
  /** True if the API server has just refused to create another one. */
  readonly refused?: boolean;
}

/** What to do next. */
export interface Plan {
  readonly create: number;
  /** Names of those to delete. */
  readonly remove: readonly string[];
  /** Name of the one to delete because it does not become Ready. */
  readonly replace?: string;
  /** Those that have not been Ready for long, oldest first. */
  readonly stalled: readonly string[];
  /** When something is to be done because time has passed, in milliseconds since the epoch. */
  readonly next?: number;
}

/** A control plane that is not Ready after this time is replaced, in milliseconds. */
export const stalledMs = 10 * 60 * 1000;

/** The longest delay between two replacements, in milliseconds. */
export const longestDelayMs = 4 * 60 * 60 * 1000;

/** The delay until the next replacement: what fails once fails again, and each attempt leaves work to a DataStore. */
export function replacementDelayMs(count: number): number {
  return count === 0 ? 0 : Math.min(stalledMs * 2 ** Math.min(count, 30), longestDelayMs);
}

/**
 * What a pool does next. All control planes of the current template count, Ready or not, so that there are never more than wanted. If one
 * does not become Ready, none is created beside it; once it is deleted, one at a time is, until one becomes Ready. Those of a former
 * template stay while they are Ready and fewer new ones are.
 */
export function planReserve({ prepared, wanted, replaced, refused = false }: Reserve, now: number): Plan {
  const current = prepared.filter((one) => one.current).sort(byWorth);
  const former = prepared.filter((one) => !one.current).sort(byWorth);
  const kept = current.slice(0, wanted);
  const ready = kept.filter((one) => one.ready).length;
  const room = Math.max(wanted - ready, 0);
  // What is refused may need the place of an old one.
  const spared = former.filter((one) => one.ready).slice(0, refused ? Math.max(room - 1, 0) : room);
  const removed = [...current.slice(wanted), ...former.filter((one) => !spared.includes(one))];
  const waiting = kept.filter((one) => !one.ready).sort((a, b) => a.since - b.since);
  const stalled = waiting.filter((one) => one.since + stalledMs <= now);
  const from = replaced.last + replacementDelayMs(replaced.count);
  const [first] = stalled;
  const replace = first !== undefined && from <= now ? first.name : undefined;
  const due = waiting.slice(0, 1).map((one) => Math.max(one.since + stalledMs, from));
  const [next] = due.filter((time) => time > now);
  const missing = Math.max(wanted - current.length, 0);
  return {
    create: refused ? 0 : creations({ missing, waiting: waiting.length, stalled: stalled.length, replaced }),
    remove: removed.map(({ name }) => name),
    stalled: stalled.map(({ name }) => name),
    ...(replace !== undefined && { replace }),
    ...(next !== undefined && { next }),
  };
}

function creations(of: {
  readonly missing: number;
  readonly waiting: number;
  readonly stalled: number;
  readonly replaced: Replacements;
}): number {
  if (of.stalled > 0) return 0;
  if (of.replaced.count === 0) return of.missing;
  return of.waiting > 0 ? 0 : Math.min(of.missing, 1);
}

/** Which are kept first: those that are Ready, then the older ones, which are claimed first. */
function byWorth(a: Prepared, b: Prepared): number {
  return Number(b.ready) - Number(a.ready) || a.created - b.created || (a.name < b.name ? -1 : 1);
}
