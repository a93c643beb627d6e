/** What is seen of the heap and of the event loop. */
export interface HeapLook {
  /** What V8 has taken from the system for JavaScript, in bytes, whether it is in use or not. */
  readonly committedBytes: number;
  /** The part of the time since the look before in which the event loop was at work, 0 to 1. */
  readonly busy: number;
}

/** A heap that has grown by less than this is left alone. */
export const usualSpareBytes = 16 * 1024 * 1024;
const growth = 1.25;
const mostBusy = 0.3;

/**
 * True if the process has time, and the heap has grown since it was last shrunk: by a quarter of `leastBytes`, which was committed then,
 * and `spareBytes` more.
 */
export function mayShrink({ committedBytes, busy }: HeapLook, leastBytes: number, spareBytes: number): boolean {
  return busy < mostBusy && committedBytes > leastBytes * growth + spareBytes;
}
