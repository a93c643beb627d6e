import type { Clock } from '../clock.ts';
import { Elsewhere } from './elsewhere.ts';

export interface SlowLaneOptions {
  readonly clock: Clock;
  /** How many reconciles may wait for servers elsewhere at once. */
  readonly limit: number;
  /** Requests a reconcile of a key that waited for room. */
  resume(key: string): void;
  /** Called with the number of slow reconciles when that changes. */
  slow(count: number): void;
}

/** What identifies one run in the lane. */
export interface Run {
  readonly elsewhere: Elsewhere;
  /** Must be called when the run is over. */
  end(): void;
}

/**
 * Prevents that slow servers occupy the workers. Reconciles that wait elsewhere for long are slow: others may run in their
 * place. At most the limit may be slow at once; one above it is aborted. A key that was slow before waits until there is
 * room, without a worker; those that were slow least often come first.
 */
export class SlowLane {
  readonly #options: SlowLaneOptions;
  readonly #slow = new Set<Elsewhere>();
  /** Keys that wait for room, with how often they held a worker. */
  readonly #parked = new Map<string, number>();

  constructor(options: SlowLaneOptions) {
    this.#options = options;
  }

  /** Begins a run of a key that was slow `holds` times; undefined when it must wait for room: it is resumed then. */
  enter(key: string, holds: number): Run | undefined {
    this.#parked.delete(key);
    const isKnown = holds > 0;
    if (isKnown && this.#slow.size >= this.#options.limit) {
      this.#parked.set(key, holds);
      return undefined;
    }
    const elsewhere = new Elsewhere(this.#options.clock, () => {
      this.#slowed(elsewhere);
    });
    if (isKnown) this.#add(elsewhere);
    return {
      elsewhere,
      end: () => {
        if (!this.#slow.delete(elsewhere)) return;
        this.#options.slow(this.#slow.size);
        this.#resume();
      },
    };
  }

  /** The object is gone, or is enqueued by itself. */
  forget(key: string): void {
    this.#parked.delete(key);
  }

  /** Keys that wait for room. */
  get parked(): number {
    return this.#parked.size;
  }

  #slowed(elsewhere: Elsewhere): void {
    // It was slow before, and has its room already.
    if (this.#slow.has(elsewhere)) return;
    if (this.#slow.size < this.#options.limit) {
      this.#add(elsewhere);
      return;
    }
    elsewhere.cut(new Error('the server is slow, and so are too many others: trying again later'));
  }

  #add(elsewhere: Elsewhere): void {
    this.#slow.add(elsewhere);
    this.#options.slow(this.#slow.size);
  }

  #resume(): void {
    let next: string | undefined;
    for (const [key, holds] of this.#parked) {
      if (next === undefined || holds < (this.#parked.get(next) ?? 0)) next = key;
    }
    if (next === undefined) return;
    this.#parked.delete(next);
    this.#options.resume(next);
  }
}
