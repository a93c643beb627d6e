import type { Backoff } from '../../../runtime/queue/backoff.ts';
import { exponentialBackoff } from '../../../runtime/queue/backoff.ts';
import type { Blocker } from './stage-error.ts';

/** No pause is longer, in milliseconds. */
const longestMs = 10 * 60_000;
/** How much longer than the first a pause becomes. */
const most = 30;

/**
 * The requeue delays of one ClusterAddon: the same blocker at the same place makes them grow, so that clusters that stay
 * broken leave the workers to others. They are separate from the backoff of the queue, which begins with milliseconds for
 * conflicts at the management API server. Events still cause a reconcile at once.
 */
export class Pauses {
  readonly #random: () => number;
  #place = '';
  #backoff: Backoff | undefined;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Milliseconds until the next reconcile, if one is needed. `place` changes with every progress. */
  after({ type, reason, afterMs }: Blocker, place: string): number | undefined {
    if (afterMs === undefined || afterMs === 0) return afterMs;
    const here = `${type}/${reason}/${afterMs}/${place}`;
    if (here !== this.#place || this.#backoff === undefined) {
      const capMs = Math.min(longestMs, afterMs * most);
      this.#backoff = exponentialBackoff({ firstMs: afterMs, capMs, random: this.#random });
    }
    this.#place = here;
    return this.#backoff.next();
  }

  /** Nothing is in the way. */
  reset(): void {
    this.#backoff = undefined;
  }
}
