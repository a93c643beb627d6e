import type { UseCounters } from './use-counters.ts';

/** A watch that may be that of a person: it was opened between the same two readings as one of their requests was made. */
interface Suspect {
  /** So many watches of the same objects were open before. */
  readonly before: number;
  /** When it counts no longer, by the monotonic clock. */
  readonly until: number;
}

/** What was last read of one kube-apiserver. */
export interface UseRecord {
  readonly counters: UseCounters;
  readonly suspects: ReadonlyMap<string, Suspect>;
}

/**
 * kube-apiserver ends a watch after an hour at most, unless its client requests more: one that goes on is requested again, and that is
 * seen. In milliseconds.
 */
export const longestWatchMs = 60 * 60_000;

/** A reading compared with the one before, of the same process. */
export interface UseStep {
  readonly isUsed: boolean;
  readonly record: UseRecord;
}

/** Whether a kube-apiserver was used between two readings, or is now. The first reading, and one of another process, count as use. */
export function useStep(before: UseRecord | undefined, counters: UseCounters, now: number): UseStep {
  if (before === undefined || isOther(before.counters, counters))
    return { isUsed: true, record: { counters, suspects: new Map() } };
  const requested = hasMore(before.counters, counters);
  const suspects = new Map<string, Suspect>();
  for (const [watched, count] of counters.watches) {
    const known = before.suspects.get(watched);
    const was = before.counters.watches.get(watched) ?? 0;
    if (requested && count > was) {
      suspects.set(watched, { before: Math.min(known?.before ?? was, was), until: now + longestWatchMs });
    } else if (known !== undefined && count > known.before && now < known.until) suspects.set(watched, known);
  }
  const isUsed = requested || counters.streams > 0 || counters.connects > before.counters.connects || suspects.size > 0;
  return { isUsed, record: { counters, suspects } };
}

/** True when a flow schema that is use has more requests than before. */
function hasMore(before: UseCounters, now: UseCounters): boolean {
  return [...now.requests].some(([flow, count]) => count > (before.requests.get(flow) ?? 0));
}

/** Counters only grow: one that shrank is that of another process. */
function isOther(before: UseCounters, now: UseCounters): boolean {
  const shrank = [...before.requests].some(([flow, count]) => (now.requests.get(flow) ?? 0) < count);
  return shrank || now.background < before.background || now.connects < before.connects;
}
