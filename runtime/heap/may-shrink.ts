/** What is seen of the heap and of the event loop. */
export interface HeapLook {
  /** What V8 has taken from the system for JavaScript, in bytes, whether it is in use or not. */
  readonly committedBytes: number;
  /** The part of the time since the look before in which the event loop was at work, 0 to 1. */
  readonly busy: number;
}

/** What is known from the looks since the heap was shrunk. */
export interface HeapHistory {
  /** What was committed then. */
  readonly leastBytes: number;
  /** How long the event loop has worked while it had much to do. */
  readonly workedMs: number;
}

/** A heap that has grown by less than this is left alone. */
export const usualSpareBytes = 16 * 1024 * 1024;
const growth = 1.25;
const mostBusy = 0.3;
const burstMs = 10_000;

/** True if the event loop has too much to do to stop for a collection. */
export function isBusy({ busy }: HeapLook): boolean {
  return busy >= mostBusy;
}

/**
 * True if the process has time, and there may be much to give back: because the heap has grown by a quarter and `spareBytes` more, or after a
 * burst of work, which may have left little of what was in use before.
 */
export function mayShrink(look: HeapLook, { leastBytes, workedMs }: HeapHistory, spareBytes: number): boolean {
  return !isBusy(look) && (workedMs >= burstMs || look.committedBytes > leastBytes * growth + spareBytes);
}
