import type { Clock } from '../../runtime/clock.ts';

/** What the end of leadership ends. */
export interface EndingParts {
  readonly clock: Pick<Clock, 'after'>;
  /** Has the manager stop in order, without a grace period. */
  readonly stop: () => void;
  /** Ends the process on the spot. */
  readonly exit: () => void;
  /** After so many milliseconds another manager may begin; without it, there is time enough. */
  readonly leftMs?: number;
}

/** Until the process ends whatever still runs; others may lead `durationMs − renewWithinMs` of the election after us. In milliseconds. */
export const longestEndMs = 3_000;

/**
 * Ends a manager that must not lead anymore. Work that does not heed its abort, such as a long removal of data in a datastore, would go on
 * while another manager works at the same: it ends with the process, before the Lease can have another holder.
 */
export function endOfLeadership({ clock, stop, exit, leftMs = longestEndMs }: EndingParts): void {
  if (leftMs <= 0) {
    exit();
    return;
  }
  clock.after(Math.min(leftMs, longestEndMs), exit);
  stop();
}
