/** What is seen of the heap and of the event loop. */
export interface HeapLook {
  /** What V8 has taken from the system for JavaScript, in bytes, whether it is in use or not. */
  readonly committedBytes: number;
  /** The part of the time since the look before in which the event loop was at work, 0 to 1. */
  readonly busy: number;
}

/** What is known from the looks since the heap was shrunk. */
export interface HeapHistory {
  /** The least and the most that was committed then and since. */
  readonly leastBytes: number;
  readonly mostBytes: number;
  /** How long the event loop has worked while it had much to do. */
  readonly workedMs: number;
}

/** A heap that has grown by less than this is left alone, unless something else is chosen: a collection takes longer the more is in use. */
const usualSpareBytes = (leastBytes: number): number => leastBytes / 4 + 16 * 1024 * 1024;
const mostBusy = 0.3;
const burstMs = 10_000;

/** The history with one more look. What is at work as in a burst counts as that. */
export function lookedAt(history: HeapHistory, look: HeapLook, sinceMs: number): HeapHistory {
  return {
    leastBytes: Math.min(history.leastBytes, look.committedBytes),
    mostBytes: Math.max(history.mostBytes, look.committedBytes),
    workedMs: history.workedMs + (isBusy(look) ? look.busy * sinceMs : 0),
  };
}

/** True if the event loop has too much to do to stop for a collection. */
export function isBusy({ busy }: HeapLook): boolean {
  return busy >= mostBusy;
}

/**
 * True if the process has time, and there may be much to give back: because the heap has grown by `spareBytes`, or after a
 * burst of work, which may have left little of what was in use before. A heap that has grown and shrunk again counts as well: V8 keeps pages of it
 * that no look shows.
 */
export function mayShrink(look: HeapLook, history: HeapHistory, spareBytes?: number): boolean {
  const { leastBytes, mostBytes, workedMs } = history;
  const hasGrown = mostBytes - leastBytes > (spareBytes ?? usualSpareBytes(leastBytes));
  return !isBusy(look) && (workedMs >= burstMs || hasGrown);
}
