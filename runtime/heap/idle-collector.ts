import type { Clock, Timer } from '../clock.ts';
import { lookedAt, mayShrink } from './may-shrink.ts';
import type { HeapHistory, HeapLook } from './may-shrink.ts';

/** What an idle collector works with. */
export interface IdleCollectorOptions {
  readonly clock: Clock;
  readonly look: () => HeapLook;
  /** Collects all garbage, which stops the process meanwhile, and gives back to the system what is free then. */
  readonly collect: () => void;
  /** By how much the heap may grow; a quarter and 16 MiB by default. */
  readonly spareBytes?: number;
}

const everyMs = 10_000;

/**
 * Shrinks the heap when the process has time. V8 lets a heap grow to several times what is in use before it collects all of it, and
 * collects when something is allocated: after a burst of work, a process that waits keeps the memory of the burst, and of all that was deleted.
 */
export class IdleCollector {
  readonly #options: IdleCollectorOptions;
  #history: HeapHistory = { leastBytes: 0, mostBytes: 0, workedMs: 0 };
  #timer: Timer | undefined;

  constructor(options: IdleCollectorOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock, look, collect, spareBytes } = this.#options;
    this.#timer = clock.after(everyMs, () => {
      const seen = look();
      this.#history = lookedAt(this.#history, seen, everyMs);
      if (mayShrink(seen, this.#history, spareBytes)) {
        collect();
        const { committedBytes } = look();
        this.#history = { leastBytes: committedBytes, mostBytes: committedBytes, workedMs: 0 };
      }
      this.start();
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }
}
